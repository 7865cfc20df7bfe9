#include "server/authenticator.h"

#include <algorithm>
#include <optional>

#include "server/digest.h"
#include "server/text.h"
#include "server/token_store.h"

namespace assay::server {

namespace {

constexpr size_t kMostKnown = 10000;

}  // namespace

absl::StatusOr<v1::Token> Authenticator::Authenticate(const std::string& authorization, Clock::time_point now) {
  static constexpr std::string_view kScheme = "bearer ";
  if (authorization.empty()) {
    return absl::UnauthenticatedError(
        "no token: send 'Authorization: Bearer TOKEN' (the `assay` command takes it from ASSAY_TOKEN)");
  }
  bool bearer = authorization.size() > kScheme.size();
  for (size_t i = 0; bearer && i < kScheme.size(); ++i) {
    bearer = (authorization[i] | 0x20) == kScheme[i] || (kScheme[i] == ' ' && authorization[i] == ' ');
  }
  if (!bearer) return absl::UnauthenticatedError("the Authorization header is not 'Bearer TOKEN'");
  const std::string secret = authorization.substr(kScheme.size());
  const std::string hash = Sha256Hex(secret);
  std::optional<v1::Token> token;
  {
    const std::lock_guard lock(mutex_);
    const auto it = known_.find(hash);
    if (it != known_.end() && now - it->second.asked < std::chrono::duration<double>(options_.cache_seconds)) {
      token = it->second.token;
    }
  }
  if (!token) {
    const absl::Status status = database_.Run([&](Transaction& transaction) {
      token = FindToken(transaction, secret);
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
    if (!token) return absl::UnauthenticatedError("the token is not known, has expired or was revoked");
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMostKnown) known_.clear();
    known_[hash] = {*token, now};
  }
  if (const absl::Status status = Spend(token->id(), now); !status.ok()) return status;
  return *std::move(token);
}

absl::Status Authenticator::Spend(const std::string& token_id, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (allowances_.size() >= kMostKnown) allowances_.clear();
  const auto [it, added] = allowances_.try_emplace(token_id, Allowance{options_.burst, now});
  Allowance& allowance = it->second;
  const double seconds = std::chrono::duration<double>(now - allowance.last).count();
  allowance.calls = std::min(options_.burst, allowance.calls + seconds * options_.calls_per_second);
  allowance.last = now;
  if (allowance.calls < 1) {
    return absl::ResourceExhaustedError(
        Cat("more than ", options_.calls_per_second, " calls a second with one token: call less often"));
  }
  allowance.calls -= 1;
  return absl::OkStatus();
}

void Authenticator::Forget() {
  const std::lock_guard lock(mutex_);
  known_.clear();
}

}  // namespace assay::server
