#include "server/digest.h"

#include <openssl/rand.h>
#include <openssl/sha.h>

#include <stdexcept>

#include "server/text.h"

namespace assay::server {

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  return HexFromBytes(std::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)));
}

std::string RandomHex(int count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), count) != 1) {
    throw std::runtime_error("the system's random generator failed");
  }
  return HexFromBytes(bytes);
}

}  // namespace assay::server
