// A table of text: for people with aligned columns, for scripts as CSV (RFC 4180).
// Thread safety: not safe; one table belongs to one thread.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace assay::client {

class Table {
 public:
  struct Column {
    std::string name;
    bool right = false;  // numbers stand right
  };
  explicit Table(std::vector<Column> columns);

  // As many cells as columns.
  void Add(std::vector<std::string> cells);
  size_t rows() const { return rows_.size(); }

  // Two spaces between columns, no space at the end of a line. Control characters are shown as '?': text in cells comes
  // from elsewhere and must not steer a terminal.
  std::string Text() const;
  std::string Csv() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// The same for text outside a table; line ends and tabs stay.
std::string Printable(std::string_view text);

}  // namespace assay::client
