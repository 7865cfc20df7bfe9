#include "client/unknown_command.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "client/table.h"
#include "client/text.h"
#include "fmt/format.h"
#include "graph/edit_distance.h"

namespace assay::client {
std::string UnknownCommand(const CLI::App& app) {
  const CLI::App* group = &app;
  std::string path = app.get_name();
  while (!group->get_subcommands().empty()) {
    group = group->get_subcommands().front();
    path += " " + group->get_name();
  }
  std::string word;
  for (const std::string& left : app.remaining(/*recurse=*/true)) {
    if (word.empty() && !left.starts_with("-")) word = left;
  }
  const auto commands = group->get_subcommands([](const CLI::App*) { return true; });
  if (word.empty() || commands.empty()) return "";
  const std::string shown = Shortened(word).substr(0, 200);
  std::string names, nearest;
  size_t distance = 3;  // two letters are off at most, and not all of them
  for (const CLI::App* command : commands) {
    const std::string& name = command->get_name();
    names += (names.empty() ? "" : ", ") + name;
    const size_t off = word.size() > 80 ? distance : graph::EditDistance(word, name);
    if (off < distance && off < name.size()) {
      distance = off;
      nearest = name;
    }
  }
  return fmt::format("there is no command '{} {}'{}; the commands are {}", path, Printable(shown),
                     nearest.empty() ? "" : fmt::format(": did you mean '{}'?", nearest), names);
}

}  // namespace assay::client
