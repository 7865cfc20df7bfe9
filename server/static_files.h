// Files of one folder, for the page. Nothing outside of it can be named.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace assay::server {

struct StaticFile {
  std::string contents;
  std::string content_type;
};

// `path` is a URL's path; "/" is index.html, and so is a path without an extension (the page has routes of its own).
// NotFound.
absl::StatusOr<StaticFile> ReadStaticFile(const std::string& folder, std::string_view path);

}  // namespace assay::server
