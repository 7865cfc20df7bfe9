#include "server/authenticator.h"

#include "gmock/gmock.h"
#include "server/postgres_fixture.h"
#include "server/token_store.h"

namespace assay::server {
namespace {

using Clock = Authenticator::Clock;

class AuthenticatorTest : public PostgresTest {
 protected:
  NewToken Make(double days = 0) {
    NewToken out;
    EXPECT_TRUE(database()
                    .Run([&](Transaction& transaction) {
                      out = CreateToken(transaction, "n", v1::SUBMITTER, days);
                      return absl::OkStatus();
                    })
                    .ok());
    return out;
  }
};

TEST_F(AuthenticatorTest, KnowsATokenAndKeepsOnlyItsHash) {
  const NewToken token = Make(1);
  EXPECT_EQ(token.secret.size(), 6u + 64u);
  Authenticator authenticator(database());
  const auto found = authenticator.Authenticate("Bearer " + token.secret);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->role(), v1::SUBMITTER);
  EXPECT_TRUE(found->has_expires());
  EXPECT_TRUE(authenticator.Authenticate("bearer " + token.secret).ok());
  EXPECT_EQ(Get("SELECT count(*) FROM tokens WHERE tokens::text LIKE '%" + token.secret.substr(6) + "%'"), "0");
}

TEST_F(AuthenticatorTest, RefusesEverythingElse) {
  const NewToken token = Make();
  Authenticator authenticator(database());
  for (const std::string& header : {std::string(), std::string("Bearer"), std::string("Bearer "), token.secret,
                                    "Basic " + token.secret, "Bearer " + token.secret + "0", std::string("Bearer x")}) {
    EXPECT_TRUE(absl::IsUnauthenticated(authenticator.Authenticate(header).status())) << header;
  }
}

TEST_F(AuthenticatorTest, ExpiredAndRevokedTokensEnd) {
  const NewToken expired = Make(1);
  const NewToken revoked = Make();
  Authenticator authenticator(database());
  const auto now = Clock::now();
  EXPECT_TRUE(authenticator.Authenticate("Bearer " + revoked.secret, now).ok());
  Execute("UPDATE tokens SET expires = now() - interval '1 s' WHERE id = " + expired.token.id());
  Execute("UPDATE tokens SET revoked = now() WHERE id = " + revoked.token.id());
  EXPECT_FALSE(authenticator.Authenticate("Bearer " + expired.secret, now).ok());
  EXPECT_TRUE(authenticator.Authenticate("Bearer " + revoked.secret, now).ok());  // remembered …
  EXPECT_FALSE(
      authenticator.Authenticate("Bearer " + revoked.secret, now + std::chrono::seconds(4)).ok());  // … for moments
}

TEST_F(AuthenticatorTest, CallsPerTokenAreLimited) {
  const NewToken token = Make();
  Authenticator authenticator(database(), {.cache_seconds = 100, .calls_per_second = 1, .burst = 3});
  const auto now = Clock::now();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(authenticator.Authenticate("Bearer " + token.secret, now).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(authenticator.Authenticate("Bearer " + token.secret, now).status()));
  EXPECT_TRUE(authenticator.Authenticate("Bearer " + token.secret, now + std::chrono::seconds(1)).ok());
}

}  // namespace
}  // namespace assay::server
