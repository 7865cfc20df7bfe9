#include "server/static_files.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "server/text.h"

namespace assay::server {

absl::StatusOr<StaticFile> ReadStaticFile(const std::string& folder, std::string_view path) {
  static const std::map<std::string, std::string> kTypes = {{".html", "text/html; charset=utf-8"},
                                                            {".js", "text/javascript; charset=utf-8"},
                                                            {".css", "text/css; charset=utf-8"},
                                                            {".json", "application/json"},
                                                            {".svg", "image/svg+xml"},
                                                            {".png", "image/png"},
                                                            {".ico", "image/x-icon"},
                                                            {".woff2", "font/woff2"},
                                                            {".map", "application/json"},
                                                            {".txt", "text/plain; charset=utf-8"}};
  const auto missing = absl::NotFoundError(Cat("there is no file ", path));
  const auto allowed = [](char c) {
    return isalnum(static_cast<unsigned char>(c)) || c == '/' || c == '.' || c == '_' || c == '-';
  };
  for (const char c : path) {
    if (!allowed(c)) return missing;
  }
  if (!path.starts_with('/') || path.find("..") != std::string_view::npos || path.find("//") != std::string_view::npos)
    return missing;
  std::filesystem::path file = std::filesystem::path(folder) / std::string(path.substr(1));
  if (!file.has_extension()) file = std::filesystem::path(folder) / "index.html";
  const auto type = kTypes.find(file.extension().string());
  std::error_code error;
  const auto real = std::filesystem::canonical(file, error);
  if (error || type == kTypes.end() || !std::filesystem::is_regular_file(real, error)) return missing;
  const auto root = std::filesystem::canonical(folder, error);
  if (error || !real.string().starts_with(root.string() + "/")) return missing;
  std::ifstream stream(real, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) return missing;
  return StaticFile{text.str(), type->second};
}

}  // namespace assay::server
