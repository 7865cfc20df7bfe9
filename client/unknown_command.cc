#include "client/unknown_command.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "client/table.h"
#include "client/text.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

// Letters to insert, take away or exchange until one is the other.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t exchanged = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

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
    const size_t off = word.size() > 80 ? distance : Distance(word, name);
    if (off < distance && off < name.size()) {
      distance = off;
      nearest = name;
    }
  }
  return fmt::format("there is no command '{} {}'{}; the commands are {}", path, Printable(shown),
                     nearest.empty() ? "" : fmt::format(": did you mean '{}'?", nearest), names);
}

}  // namespace assay::client
