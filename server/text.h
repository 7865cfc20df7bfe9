// Small things on text. (Debian's abseil has a string_view of its own, which std::string_view does not convert to.)
// Thread safety: pure functions.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/strings/string_view.h"

namespace assay::server {

template <typename Piece>
void AppendPiece(std::string& out, const Piece& piece) {
  if constexpr (std::is_floating_point_v<Piece>) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", static_cast<double>(piece));
    out += text;
  } else if constexpr (std::is_same_v<Piece, char>) {
    out += piece;
  } else if constexpr (std::is_integral_v<Piece>) {
    out += std::to_string(piece);
  } else if constexpr (std::is_same_v<Piece, absl::string_view>) {
    out.append(piece.data(), piece.size());
  } else {
    out += std::string_view(piece);
  }
}

template <typename... Pieces>
std::string Cat(const Pieces&... pieces) {
  std::string out;
  (AppendPiece(out, pieces), ...);
  return out;
}

template <typename Container>
std::string Join(const Container& items, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += separator;
    first = false;
    AppendPiece(out, item);
  }
  return out;
}

// At each separator, so that there is one part at least.
std::vector<std::string_view> Split(std::string_view text, char separator);

// The lines of a text; none of an empty one.
std::vector<std::string> Lines(std::string_view text);

// The whole of `text` as a number; nullopt where it is not one.
inline std::optional<int64_t> ParseInt(std::string_view text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::string HexFromBytes(std::string_view bytes);
// Precondition: pairs of hex digits.
std::string BytesFromHex(std::string_view hex);

}  // namespace assay::server
