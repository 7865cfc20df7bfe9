#include "graph/canonical.h"

#include <charconv>
#include <cmath>

#include "graph/callees.h"
#include "graph/sha256.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

// A line is broken behind the first comma after this column.
constexpr size_t kLineColumns = 104;
constexpr std::string_view kIndent = "        ";

// The shortest text that reads back as the same float64, with a point or an exponent.
void AppendFloat(std::string& out, double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  const std::string_view text(buffer, end - buffer);
  out += text;
  if (text.find_first_of(".en") == std::string_view::npos) out += ".0";
}

void AppendString(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '"':
      case '\\':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  out += '"';
}

// Text whose lines are kept short.
class Writer {
 public:
  std::string text;

  void EndLine() {
    text += '\n';
    line_begin_ = text.size();
  }
  bool LineIsLong() const { return text.size() - line_begin_ > kLineColumns; }
  // Inside brackets only.
  void Comma() {
    if (LineIsLong()) {
      text += ',';
      EndLine();
      text += kIndent;
      text += "    ";
    } else {
      text += ", ";
    }
  }

 private:
  size_t line_begin_ = 0;
};

bool UsesDevice(const Argument& argument);
bool UsesInf(const Argument& argument);

bool AnyOf(const Argument& argument, bool (*predicate)(const Argument&)) {
  const std::vector<Argument>* items = nullptr;
  if (const auto* slice = std::get_if<SliceLiteral>(&argument.v)) items = &slice->items;
  if (const auto* sequence = std::get_if<Sequence>(&argument.v)) items = &sequence->items;
  if (items == nullptr) return false;
  for (const Argument& item : *items) {
    if (predicate(item)) return true;
  }
  return false;
}

bool UsesDevice(const Argument& argument) {
  return std::holds_alternative<DevicePlaceholder>(argument.v) || AnyOf(argument, UsesDevice);
}

bool UsesInf(const Argument& argument) {
  const double* number = std::get_if<double>(&argument.v);
  return (number != nullptr && std::isinf(*number)) || AnyOf(argument, UsesInf);
}

bool Uses(const Graph& graph, bool (*predicate)(const Argument&)) {
  for (const Operation& operation : graph.operations) {
    for (const Argument& argument : operation.positional) {
      if (predicate(argument)) return true;
    }
    for (const KeywordArgument& argument : operation.keyword) {
      if (predicate(argument.value)) return true;
    }
  }
  return false;
}

class ModelPrinter {
 public:
  ModelPrinter(const Graph& graph, std::string_view device) : graph_(graph), device_(device) {}

  std::string Print() {
    out_.text = "import torch\n";
    if (Uses(graph_, UsesDevice)) out_.text += "from torch import device\n";
    if (Uses(graph_, UsesInf)) out_.text += "from torch import inf\n";
    out_.text += "\n\nclass GraphModule(torch.nn.Module):\n    def forward(\n        self,\n";
    for (const Parameter& parameter : graph_.parameters) {
      Append(out_.text, kIndent, parameter.name, ": ", AnnotationText(parameter.annotation), ",\n");
    }
    out_.text += "    ):";
    out_.EndLine();
    ChoosePrefix();
    const std::vector<std::vector<int32_t>> last_uses = LastUses(graph_);
    for (size_t i = 0; i < graph_.operations.size(); ++i) {
      PrintOperation(graph_.operations[i]);
      PrintFrees(last_uses[i]);
    }
    out_.text += kIndent;
    out_.text += "return (";
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (i > 0) out_.Comma();
      PrintValue(graph_.outputs[i]);
    }
    out_.text += graph_.outputs.size() == 1 ? ",)" : ")";
    out_.EndLine();
    return std::move(out_.text);
  }

 private:
  static std::string_view AnnotationText(Annotation annotation) {
    switch (annotation) {
      case Annotation::kParameter:
        return "torch.nn.parameter.Parameter";
      case Annotation::kSymInt:
        return "torch.SymInt";
      case Annotation::kTensor:
        break;
    }
    return "torch.Tensor";
  }

  // "v", lengthened until no parameter is named like a value.
  void ChoosePrefix() {
    const auto taken = [&] {
      for (const Parameter& parameter : graph_.parameters) {
        if (parameter.name.starts_with(prefix_) && parameter.name.size() > prefix_.size() &&
            parameter.name.find_first_not_of("0123456789", prefix_.size()) == std::string::npos) {
          return true;
        }
      }
      return false;
    };
    while (taken()) prefix_ += '_';
  }

  void PrintValue(int32_t value) {
    if (static_cast<size_t>(value) < graph_.parameters.size()) {
      out_.text += graph_.parameters[value].name;
    } else {
      out_.text += prefix_;
      Append(out_.text, value);
    }
  }

  void PrintItems(const std::vector<Argument>& items) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_.Comma();
      PrintArgument(items[i]);
    }
  }

  struct ArgumentPrinter {
    ModelPrinter& p;
    void operator()(const NoneLiteral&) const { p.out_.text += "None"; }
    void operator()(bool value) const { p.out_.text += value ? "True" : "False"; }
    void operator()(int64_t value) const { Append(p.out_.text, value); }
    void operator()(double value) const { AppendFloat(p.out_.text, value); }
    void operator()(const std::string& text) const { AppendString(p.out_.text, text); }
    void operator()(DType dtype) const { Append(p.out_.text, "torch.", Name(dtype)); }
    void operator()(const DevicePlaceholder&) const { Append(p.out_.text, "device(type=\"", p.device_, "\")"); }
    void operator()(const EllipsisLiteral&) const { p.out_.text += "Ellipsis"; }
    void operator()(const TorchConstant& constant) const { Append(p.out_.text, "torch.", constant.name); }
    void operator()(const ValueRef& reference) const { p.PrintValue(reference.value); }
    void operator()(const SliceLiteral& slice) const {
      p.out_.text += "slice(";
      p.PrintItems(slice.items);
      p.out_.text += ')';
    }
    void operator()(const Sequence& sequence) const {
      p.out_.text += sequence.tuple ? '(' : '[';
      p.PrintItems(sequence.items);
      if (sequence.tuple && sequence.items.size() == 1) p.out_.text += ',';
      p.out_.text += sequence.tuple ? ')' : ']';
    }
  };

  void PrintArgument(const Argument& argument) { std::visit(ArgumentPrinter{*this}, argument.v); }

  // An index stands without the parentheses of its tuple.
  void PrintIndex(const Argument& index) {
    const auto* sequence = std::get_if<Sequence>(&index.v);
    out_.text += '[';
    if (sequence != nullptr && sequence->tuple && !sequence->items.empty()) {
      PrintItems(sequence->items);
      if (sequence->items.size() == 1) out_.text += ',';
    } else {
      PrintArgument(index);
    }
    out_.text += ']';
  }

  // The left operand: a negative base of `**` needs parentheses.
  void PrintOperand(const Argument& argument, std::string_view op) {
    const size_t begin = out_.text.size();
    PrintArgument(argument);
    if (op == "**" && out_.text[begin] == '-') {
      out_.text.insert(begin, 1, '(');
      out_.text += ')';
    }
  }

  void PrintCall(const Operation& operation, size_t first) {
    out_.text += '(';
    for (size_t i = first; i < operation.positional.size(); ++i) {
      if (i > first) out_.Comma();
      PrintArgument(operation.positional[i]);
    }
    for (size_t i = 0; i < operation.keyword.size(); ++i) {
      if (i > 0 || operation.positional.size() > first) out_.Comma();
      out_.text += operation.keyword[i].name;
      out_.text += '=';
      PrintArgument(operation.keyword[i].value);
    }
    out_.text += ')';
  }

  void PrintOperation(const Operation& operation) {
    const Callee& callee = *operation.callee;
    const std::vector<Argument>& arguments = operation.positional;
    out_.text += kIndent;
    if (callee.kind == CalleeKind::kOperator) {
      const std::string_view op = callee.name.substr(std::string_view("operator:").size());
      if (op == "setitem") {
        PrintArgument(arguments[0]);
        PrintIndex(arguments[1]);
        out_.text += " = ";
        PrintArgument(arguments[2]);
        return out_.EndLine();
      }
      PrintValue(operation.result);
      out_.text += " = ";
      if (op == "getitem") {
        PrintArgument(arguments[0]);
        PrintIndex(arguments[1]);
      } else if (op == "neg" || op == "~") {
        out_.text += op == "neg" ? '-' : '~';
        PrintArgument(arguments[0]);
      } else if (op.size() > 1 && op.back() == '=' && op != "==" && op != "!=" && op != "<=" && op != ">=") {
        // A new name for the old object, then the statement: the old name keeps what it had.
        PrintArgument(arguments[0]);
        out_.EndLine();
        out_.text += kIndent;
        PrintValue(operation.result);
        Append(out_.text, " ", op, " ");
        PrintArgument(arguments[1]);
      } else {
        PrintOperand(arguments[0], op);
        Append(out_.text, " ", op, " ");
        PrintArgument(arguments[1]);
      }
      return out_.EndLine();
    }
    PrintValue(operation.result);
    out_.text += " = ";
    switch (callee.kind) {
      case CalleeKind::kMethod:
        PrintArgument(arguments[0]);
        out_.text += callee.name;
        PrintCall(operation, 1);
        break;
      case CalleeKind::kAttribute:
        PrintArgument(arguments[0]);
        out_.text += callee.name.substr(std::string_view("getattr:").size());
        break;
      default:
        out_.text += callee.name;
        PrintCall(operation, 0);
    }
    out_.EndLine();
  }

  void PrintFrees(const std::vector<int32_t>& values) {
    if (values.empty()) return;
    out_.text += kIndent;
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0 && out_.LineIsLong()) {
        out_.text += "None";
        out_.EndLine();
        out_.text += kIndent;
      }
      PrintValue(values[i]);
      out_.text += " = ";
    }
    out_.text += "None";
    out_.EndLine();
  }

  const Graph& graph_;
  const std::string_view device_;
  std::string prefix_ = "v";
  Writer out_;
};

void AppendMetaNumber(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "float(\"nan\")";
  } else if (std::isinf(value)) {
    out += value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  } else {
    AppendFloat(out, value);
  }
}

void PrintNumberOrNone(Writer& out, std::string_view name, const std::optional<double>& value, bool integer) {
  Append(out.text, "    ", name, " = ");
  if (!value.has_value()) {
    out.text += "None";
  } else if (integer && std::abs(*value) < std::ldexp(1.0, 63) && *value == std::floor(*value)) {
    Append(out.text, static_cast<int64_t>(*value));
  } else {
    AppendMetaNumber(out.text, *value);
  }
  out.EndLine();
}

void PrintData(Writer& out, const TensorMeta& meta) {
  out.text += "    data = ";
  if (!meta.data.has_value()) {
    out.text += "None";
    return out.EndLine();
  }
  out.text += '[';
  bool first = true;
  for (const std::variant<int64_t, double, bool>& number : *meta.data) {
    if (!first) out.Comma();
    first = false;
    if (const auto* integer = std::get_if<int64_t>(&number)) {
      Append(out.text, *integer);
    } else if (const auto* truth = std::get_if<bool>(&number)) {
      out.text += *truth ? "True" : "False";
    } else {
      AppendMetaNumber(out.text, std::get<double>(number));
    }
  }
  out.text += ']';
  out.EndLine();
}

// Of all parameters, or of those with an annotation.
std::string PrintMeta(const Graph& graph, std::optional<Annotation> annotation = std::nullopt) {
  Writer out;
  bool first = true;
  for (const Parameter& parameter : graph.parameters) {
    if (annotation && parameter.annotation != *annotation) continue;
    const TensorMeta& meta = parameter.meta;
    if (!first) out.text += "\n\n";
    first = false;
    Append(out.text, "class Program_weight_tensor_meta_", meta.name, ":\n    name = \"", meta.name,
           "\"\n    shape = [");
    for (size_t i = 0; i < meta.shape.size(); ++i) Append(out.text, i > 0 ? ", " : "", meta.shape[i]);
    Append(out.text, "]\n    dtype = \"torch.", Name(meta.dtype), "\"\n    device = \"cpu\"");
    out.EndLine();
    PrintNumberOrNone(out, "mean", meta.mean, false);
    PrintNumberOrNone(out, "std", meta.std, false);
    if (meta.min_val.has_value()) PrintNumberOrNone(out, "min_val", meta.min_val, IsIntegral(meta.dtype));
    if (meta.max_val.has_value()) PrintNumberOrNone(out, "max_val", meta.max_val, IsIntegral(meta.dtype));
    PrintData(out, meta);
  }
  return std::move(out.text);
}

}  // namespace

Sample Canonical(const Graph& graph) {
  Sample sample;
  sample.model = CanonicalModel(graph);
  if (graph.stablehlo) {
    // The text has no annotations: which arguments are weights is told by the file that describes them.
    sample.weight_meta = PrintMeta(graph, Annotation::kParameter);
    sample.input_meta = PrintMeta(graph, Annotation::kTensor);
  } else {
    sample.weight_meta = PrintMeta(graph);
  }
  sample.info =
      Cat("{\"framework\": \"", graph.info.framework, "\", \"num_devices_required\": 1, \"num_nodes_required\": 1}\n");
  return sample;
}

std::string CanonicalModel(const Graph& graph, std::string_view device) {
  if (graph.stablehlo) return graph.stablehlo->text;
  return ModelPrinter(graph, device == "cuda" ? device : "cpu").Print();
}

std::string Hash(const Graph& graph) { return HashOfCanonical(Canonical(graph)); }

std::string HashOfCanonical(const Sample& canonical) {
  // The lengths keep the files apart. A torch graph has no input_meta.
  const std::string head = Cat(kCanonicalVersion, "\n", canonical.model.size(), "\n");
  const std::string between = canonical.input_meta.empty() ? "" : Cat("\n", canonical.weight_meta.size(), "\n");
  return Sha256HexOfPieces({head, canonical.model, canonical.weight_meta, between, canonical.input_meta});
}

}  // namespace assay::graph
