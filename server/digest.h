// SHA-256 as lower-case hex digits.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace assay::server {

std::string Sha256Hex(std::string_view bytes);

// `count` bytes of the system's cryptographic generator, as hex digits.
std::string RandomHex(int count);

}  // namespace assay::server
