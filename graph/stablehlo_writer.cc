#include "graph/stablehlo_writer.h"

#include "graph/text.h"

namespace assay::graph {

void StableHloWriter::Different(std::string_view token, std::string_view in_structure, bool space) {
  if (space && std::string_view("\n([<").find(last_) == std::string_view::npos) text += ' ';
  text += token;
  structure += in_structure;
  structure += ' ';
  last_ = token.back();
}

void StableHloWriter::EndLine() {
  if (text.empty() || text.back() == '\n') return;
  text += '\n';
  structure += '\n';
}

void StableHloWriter::Begin() {
  text = "module {\n";
  depth_ = 1;
}

void StableHloWriter::End() {
  EndLine();
  text += "}\n";
}

void StableHloWriter::StartLine() {
  EndLine();
  text.append(2 * static_cast<size_t>(depth_), ' ');
  last_ = '\n';
}

void StableHloWriter::StartLabel() {
  --depth_;
  StartLine();
  ++depth_;
  Both("^bb0", true);
}

void StableHloWriter::OpenRegion() {
  Both("{", true);
  ++depth_;
}

void StableHloWriter::CloseRegion() {
  --depth_;
  StartLine();
  Both("}", true);
}

void StableHloWriter::String(std::string_view value) { Both(Cat("\"", value, "\""), true); }
void StableHloWriter::Symbol(std::string_view name) { Different(Cat("@", name), "@", true); }
void StableHloWriter::Value(std::string_view name) { Both(Cat("%", name), true); }
void StableHloWriter::Attribute(std::string_view name) { Both(Cat("#", name), true); }
void StableHloWriter::Count(std::string_view number) { Both(Cat(":", number), false); }
void StableHloWriter::Number(std::string_view number) { Different(number, "N", true); }

void StableHloWriter::Punctuation(std::string_view punctuation) {
  const bool opens_call = punctuation == "(" && last_ != ':' && last_ != '>' && last_ != '=' && last_ != ')';
  const bool space = punctuation == "->" || punctuation == "=" || punctuation == "{" || punctuation == "[" ||
                     (punctuation == "(" && !opens_call);
  Both(punctuation, space);
}

void StableHloWriter::Tensor(const std::vector<int64_t>& shape, std::string_view element) {
  std::string type = "tensor<", rank = "tensor<";
  for (const int64_t size : shape) {
    type += Cat(size, "x");
    rank += "Nx";
  }
  Different(Cat(type, element, ">"), Cat(rank, element, ">"), true);
}

void StableHloWriter::Dense(std::string_view contents) { Different(Cat("dense<", contents, ">"), "dense", true); }

void StableHloWriter::BackTo(const Mark& mark) {
  text.resize(mark.text);
  structure.resize(mark.structure);
  last_ = mark.last;
}

}  // namespace assay::graph
