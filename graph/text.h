// Joins pieces of text and integers into a string.
// Thread safety: pure functions.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace assay::graph {

inline void AppendPiece(std::string& out, std::string_view piece) { out.append(piece); }
inline void AppendPiece(std::string& out, std::integral auto number) { out.append(std::to_string(number)); }

template <typename... Pieces>
std::string Cat(const Pieces&... pieces) {
  std::string out;
  (AppendPiece(out, pieces), ...);
  return out;
}

}  // namespace assay::graph
