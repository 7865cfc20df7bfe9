// Prints a StableHLO module token by token in one fixed form, and beside it the same without sizes, numbers and
// contents, of which a structure's fingerprint is made.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::graph {

class StableHloWriter {
 public:
  std::string text, structure;

  void Begin();  // of the module
  void End();
  void StartLine();
  void StartLabel();
  void OpenRegion();
  void CloseRegion();

  void Word(std::string_view word) { Both(word, true); }
  void String(std::string_view text);  // an operation in its generic form
  void Symbol(std::string_view name);  // with its sign, as the next two
  void Value(std::string_view name);
  void Attribute(std::string_view name);
  void Count(std::string_view number);  // of results
  void Number(std::string_view number);
  void Punctuation(std::string_view punctuation);
  void Tensor(const std::vector<int64_t>& shape, std::string_view element);
  void Dense(std::string_view contents);

  // To take back what was written since.
  struct Mark {
    size_t text = 0, structure = 0;
    char last = 0;
  };
  Mark Here() const { return {text.size(), structure.size(), last_}; }
  void BackTo(const Mark& mark);

 private:
  void Both(std::string_view token, bool space) { Different(token, token, space); }
  void Different(std::string_view token, std::string_view in_structure, bool space);
  void EndLine();

  int depth_ = 0;
  char last_ = '\n';  // of the line: what the next token's space depends on
};

}  // namespace assay::graph
