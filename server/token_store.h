// Tokens. A secret is 256 random bits and exists only in the hands of its holder: the database has its SHA-256.
// Thread safety: works in the caller's transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/admin.pb.h"
#include "server/database.h"

namespace assay::server {

struct NewToken {
  v1::Token token;
  std::string secret;
};

// `days` 0: does not expire.
NewToken CreateToken(Transaction& transaction, const std::string& name, v1::Role role, double days);

std::vector<v1::Token> ListTokens(Transaction& transaction);

// Again and again is fine. NotFound.
absl::StatusOr<v1::Token> RevokeToken(Transaction& transaction, int64_t id);

// The token of a secret if it is neither revoked nor expired.
std::optional<v1::Token> FindToken(Transaction& transaction, const std::string& secret);

}  // namespace assay::server
