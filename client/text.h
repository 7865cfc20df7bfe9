// Small work on text. (This system's abseil has a string_view of its own: what takes one of std's is here.)
// Thread safety: pure functions.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace assay::client {

std::vector<std::string> Split(std::string_view text, char separator);
std::string_view Trim(std::string_view text);
std::string LowerCase(std::string_view text);
std::string UpperCase(std::string_view text);

// What a user gave, no longer than a message should be.
std::string Shortened(std::string_view text);

// The whole text as a number, or nothing.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

inline std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }
// The same status with "what: " before its message.
absl::Status Prefixed(std::string_view what, const absl::Status& status);

}  // namespace assay::client
