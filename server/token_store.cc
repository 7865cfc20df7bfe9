#include "server/token_store.h"

#include <pqxx/pqxx>

#include "google/protobuf/util/time_util.h"
#include "server/digest.h"
#include "server/names.h"
#include "server/text.h"

namespace assay::server {

namespace {

using google::protobuf::util::TimeUtil;

constexpr char kColumns[] =
    "id, name, role, (extract(epoch FROM created) * 1000000)::bigint, (extract(epoch FROM expires) * 1000000)::bigint, "
    "revoked IS NOT NULL";

v1::Token TokenOf(const pqxx::row& row) {
  v1::Token token;
  token.set_id(row[0].c_str());
  token.set_name(row[1].c_str());
  token.set_role(RoleFromName(row[2].c_str()));
  *token.mutable_created() = TimeUtil::MicrosecondsToTimestamp(row[3].as<int64_t>());
  if (!row[4].is_null()) *token.mutable_expires() = TimeUtil::MicrosecondsToTimestamp(row[4].as<int64_t>());
  token.set_revoked(row[5].as<bool>());
  return token;
}

}  // namespace

NewToken CreateToken(Transaction& transaction, const std::string& name, v1::Role role, double days) {
  NewToken out;
  out.secret = "assay_" + RandomHex(32);
  out.token = TokenOf(transaction.exec_params1(
      Cat("INSERT INTO tokens (name, role, secret_hash, expires) VALUES ($1, $2, decode($3, 'hex'), "
          "CASE WHEN $4::float8 > 0 THEN now() + make_interval(secs => $4::float8 * 86400) END) RETURNING ",
          kColumns),
      name, RoleName(role), Sha256Hex(out.secret), days));
  return out;
}

std::vector<v1::Token> ListTokens(Transaction& transaction) {
  std::vector<v1::Token> out;
  for (const auto& row : transaction.exec(Cat("SELECT ", kColumns, " FROM tokens ORDER BY id"))) {
    out.push_back(TokenOf(row));
  }
  return out;
}

absl::StatusOr<v1::Token> RevokeToken(Transaction& transaction, int64_t id) {
  const pqxx::result rows = transaction.exec_params(
      Cat("UPDATE tokens SET revoked = coalesce(revoked, now()) WHERE id = $1 RETURNING ", kColumns), id);
  if (rows.empty()) return absl::NotFoundError(Cat("there is no token ", id, ": `assay token list` shows them"));
  return TokenOf(rows[0]);
}

std::optional<v1::Token> FindToken(Transaction& transaction, const std::string& secret) {
  const pqxx::result rows = transaction.exec_params(Cat("SELECT ", kColumns,
                                                        " FROM tokens WHERE secret_hash = decode($1, 'hex') AND "
                                                        "revoked IS NULL AND (expires IS NULL OR expires > now())"),
                                                    Sha256Hex(secret));
  if (rows.empty()) return std::nullopt;
  return TokenOf(rows[0]);
}

}  // namespace assay::server
