#include "client/graph_names.h"

#include <algorithm>
#include <map>
#include <set>

#include "client/text.h"

namespace assay::client {

std::optional<std::string> MatchName(std::string_view path, const std::vector<std::string>& names) {
  const std::string* best = nullptr;
  for (const std::string& name : names) {
    const bool ends = path.size() > name.size() && path.ends_with(name) && path[path.size() - name.size() - 1] == '/';
    if ((path == name || ends) && (best == nullptr || name.size() > best->size())) best = &name;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::vector<std::string> ShortNames(const std::vector<std::string>& paths) {
  std::vector<std::vector<std::string>> parts;
  size_t common = paths.empty() ? 0 : std::string::npos;
  for (const std::string& path : paths) {
    std::vector<std::string> split;
    for (std::string& part : Split(path, '/')) {
      if (!part.empty()) split.push_back(std::move(part));
    }
    if (split.empty()) split.push_back(path);
    common = std::min(common, split.size() - 1);
    if (!parts.empty()) {
      const auto [differs, unused] =
          std::mismatch(split.begin(), split.end(), parts.front().begin(), parts.front().end());
      common = std::min(common, static_cast<size_t>(differs - split.begin()));
    }
    parts.push_back(std::move(split));
  }
  std::vector<std::string> names;
  for (const std::vector<std::string>& split : parts) {
    std::string name;
    for (size_t i = common; i < split.size(); ++i) name += (name.empty() ? "" : "/") + split[i];
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<size_t> MakeUnique(std::vector<std::string>& names) {
  std::set<std::string> taken(names.begin(), names.end());
  std::set<std::string> seen;
  std::map<std::string, int> last;
  std::vector<size_t> repeated;
  for (size_t i = 0; i < names.size(); ++i) {
    if (seen.insert(names[i]).second) continue;
    repeated.push_back(i);
    int& number = last.try_emplace(names[i], 1).first->second;
    std::string name;
    do {
      name = names[i] + "#" + std::to_string(++number);
    } while (!taken.insert(name).second);
    names[i] = std::move(name);
  }
  return repeated;
}

}  // namespace assay::client
