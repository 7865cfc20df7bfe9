// Joins pieces of text and integers into a string, or behind one.
// Thread safety: pure functions.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace assay::graph {

inline void AppendPiece(std::string& out, std::string_view piece) { out.append(piece); }
inline void AppendPiece(std::string& out, std::integral auto number) {
  char digits[24];
  const char* const end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  out.append(digits, static_cast<size_t>(end - digits));
}

template <typename... Pieces>
void Append(std::string& out, const Pieces&... pieces) {
  (AppendPiece(out, pieces), ...);
}

template <typename... Pieces>
std::string Cat(const Pieces&... pieces) {
  std::string out;
  Append(out, pieces...);
  return out;
}

}  // namespace assay::graph
