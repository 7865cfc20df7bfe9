// Names in a suite for the graphs that a log knows by their folders' paths.
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::client {

// The longest of `names` that the path is, or ends with after a '/'.
std::optional<std::string> MatchName(std::string_view path, const std::vector<std::string>& names);

// Each path without the folders that all of them begin with; its last part always stays.
std::vector<std::string> ShortNames(const std::vector<std::string>& paths);

// A name that stands a second time gets "#2" at its end, and so on. Returns the positions of those.
std::vector<size_t> MakeUnique(std::vector<std::string>& names);

}  // namespace assay::client
