// Tells whose token a call carries. What the database said is kept for a few seconds, so that a revoked token ends
// within them everywhere, and at once in the process that revoked it. Calls per token are limited. Thread safety: any
// thread.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "assay/v1/admin.pb.h"
#include "server/database.h"

namespace assay::server {

struct AuthenticatorOptions {
  double cache_seconds = 3;
  double calls_per_second = 2000;  // of one token, sustained
  double burst = 10000;
};

class Authenticator {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Authenticator(Database& database, AuthenticatorOptions options = {})
      : database_(database), options_(options) {}

  // `authorization` is "Bearer SECRET". Unauthenticated: none, malformed, unknown, expired or revoked;
  // ResourceExhausted: too many calls.
  absl::StatusOr<v1::Token> Authenticate(const std::string& authorization, Clock::time_point now = Clock::now());

  // Asks the database again from now on.
  void Forget();

 private:
  struct Entry {
    v1::Token token;
    Clock::time_point asked;
  };
  struct Allowance {
    double calls = 0;
    Clock::time_point last;
  };

  absl::Status Spend(const std::string& token_id, Clock::time_point now);

  Database& database_;
  const AuthenticatorOptions options_;
  std::mutex mutex_;
  std::map<std::string, Entry> known_;  // by the secret's hash
  std::map<std::string, Allowance> allowances_;
};

}  // namespace assay::server
