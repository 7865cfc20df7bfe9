#include "graph/synthesize_meta.h"

#include <charconv>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/diagnostic.h"
#include "graph/lexer.h"
#include "graph/model_parser.h"
#include "graph/role.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

struct TensorShape {
  std::vector<int64_t> sizes;
  Location location;  // of its name
  bool used = false;
};

// The shapes of tensors by name.
using Shapes = absl::flat_hash_map<std::string, TensorShape>;

class ConstraintsParser {
 public:
  ConstraintsParser(std::string_view text, const Limits& limits) : lexer_(text, kConstraintsFile), limits_(limits) {}

  absl::StatusOr<Shapes> Run() {
    lexer_.Advance();
    while (!lexer_.Is(TokenKind::kEnd)) {
      if (!Statement()) return lexer_.status();
    }
    return std::move(shapes_);
  }

 private:
  bool Statement() {
    if (lexer_.IsName("from")) return Import();
    if (!lexer_.IsTarget() || lexer_.token().column != 1) {
      return lexer_.Expected("'from sympy import …', or 'NAME =' at the beginning of the line");
    }
    const std::string_view name = lexer_.token().text;
    lexer_.Advance();
    lexer_.Advance();  // the '='
    bool good = false;
    if (name == "dynamic_dim_constraint_input_shapes") {
      good = List([this] { return Tensor(); });
    } else if (name == "dynamic_dim_constraint_symbol2example_value") {
      good = Examples();
    } else if (name == "dynamic_dim_constraint_symbols" || name == "dynamic_dim_constraint_relations") {
      good = SkipList();
    } else {
      good = Symbol();
    }
    if (!good) return false;
    if (!lexer_.Is(TokenKind::kNewline)) return lexer_.Expected("the end of the line");
    lexer_.Advance();
    return true;
  }

  bool Import() {
    lexer_.Advance();
    if (!lexer_.IsName("sympy")) return lexer_.Expected("'sympy'");
    while (!lexer_.Is(TokenKind::kNewline)) {
      if (!lexer_.Is(TokenKind::kName) && !lexer_.Is(Op(","))) return lexer_.Expected("a name or ','");
      lexer_.Advance();
    }
    lexer_.Advance();
    return true;
  }

  // Symbol("S0"): of use only with an example value.
  bool Symbol() {
    if (!lexer_.IsName("Symbol")) return lexer_.Expected("'Symbol(\"NAME\")'");
    lexer_.Advance();
    if (!lexer_.Take(Op("("), "'('")) return false;
    if (!lexer_.Is(TokenKind::kString)) return lexer_.Expected("a string");
    lexer_.Advance();
    return lexer_.Take(Op(")"), "')'");
  }

  // '[' item, … ']'
  template <typename Item>
  bool List(const Item& item) {
    if (!lexer_.Is(Op("["))) return lexer_.Expected("'['");
    do {
      lexer_.Advance();
      if (lexer_.Is(Op("]"))) break;
      if (!item()) return false;
    } while (lexer_.Is(Op(",")));
    return lexer_.Take(Op("]"), "',' or ']'");
  }

  // What says nothing about shapes: anything in balanced brackets.
  bool SkipList() {
    if (!lexer_.Is(Op("["))) return lexer_.Expected("'['");
    int depth = 0;
    do {
      if (lexer_.Is(TokenKind::kEnd) || lexer_.Is(TokenKind::kBad)) return lexer_.Expected("']'");
      if (lexer_.Is(Op("[")) || lexer_.Is(Op("(")) || lexer_.Is(Op("{"))) ++depth;
      if (lexer_.Is(Op("]")) || lexer_.Is(Op(")")) || lexer_.Is(Op("}"))) --depth;
      lexer_.Advance();
    } while (depth > 0);
    return true;
  }

  // {S0: 1, …}
  bool Examples() {
    if (!lexer_.Is(Op("{"))) return lexer_.Expected("'{'");
    do {
      lexer_.Advance();
      if (lexer_.Is(Op("}"))) break;
      if (!lexer_.Is(TokenKind::kName)) return lexer_.Expected("the name of a symbol");
      const std::string symbol(lexer_.token().text);
      lexer_.Advance();
      if (!lexer_.Take(Op(":"), "':'")) return false;
      if (!Integer(&examples_[symbol])) return false;
    } while (lexer_.Is(Op(",")));
    return lexer_.Take(Op("}"), "',' or '}'");
  }

  bool Integer(int64_t* value) {
    if (!lexer_.Is(TokenKind::kInt)) return lexer_.Expected("an integer of at least 0");
    if (!IntValue(lexer_.token(), false, value)) return lexer_.Fail("the integer does not fit 64 bits");
    lexer_.Advance();
    return true;
  }

  // ([S0, 3], "L_x_")
  bool Tensor() {
    TensorShape shape;
    if (!lexer_.Take(Op("("), "'(' of a shape and a name")) return false;
    const Token at = lexer_.token();
    int64_t bytes = sizeof(float);
    const auto size = [&] {
      int64_t value = 0;
      if (lexer_.Is(TokenKind::kName)) {
        const auto example = examples_.find(std::string(lexer_.token().text));
        if (example == examples_.end()) {
          return lexer_.Fail(Cat("the symbol ", Quoted(lexer_.token().text), " has no example value before this"));
        }
        value = example->second;
        lexer_.Advance();
      } else if (!Integer(&value)) {
        return false;
      }
      shape.sizes.push_back(value);
      if (shape.sizes.size() > static_cast<size_t>(limits_.rank) ||
          __builtin_mul_overflow(bytes, std::max<int64_t>(value, 1), &bytes) || bytes > limits_.tensor_bytes) {
        return lexer_.FailWith(absl::StatusCode::kResourceExhausted, at,
                               Cat("the shape has more than ", limits_.rank, " dimensions, or means more bytes than ",
                                   limits_.tensor_bytes));
      }
      return true;
    };
    if (!List(size)) return false;
    if (!lexer_.Take(Op(","), "','")) return false;
    shape.location = {lexer_.token().line, lexer_.token().column};
    std::string name;
    if (!lexer_.Is(TokenKind::kString) || !StringValue(lexer_.token(), &name)) {
      return lexer_.Expected("the name of a tensor in quotes");
    }
    if (shapes_.size() >= limits_.parameters) {
      return lexer_.FailWith(absl::StatusCode::kResourceExhausted, lexer_.token(),
                             Cat("more tensors than the limit of ", limits_.parameters));
    }
    if (!shapes_.emplace(name, std::move(shape)).second) {
      return lexer_.Fail(Cat("the tensor ", Quoted(name), " is listed twice"));
    }
    lexer_.Advance();
    if (lexer_.Is(Op(","))) lexer_.Advance();
    return lexer_.Take(Op(")"), "')'");
  }

  Lexer lexer_;
  const Limits& limits_;
  absl::flat_hash_map<std::string, int64_t> examples_;
  Shapes shapes_;
};

std::string NumberText(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  std::string out(text, end);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string ClassText(const std::string& name, const std::vector<int64_t>& sizes) {
  std::string shape;
  for (const int64_t size : sizes) shape += Cat(shape.empty() ? "" : ", ", size);
  const bool counter = name.find("num_batches_tracked") != std::string::npos;
  std::string text = Cat("class Program_weight_tensor_meta_", name, ":\n    name = \"", name, "\"\n    shape = [",
                         shape, "]\n    dtype = \"torch.", counter ? "int64" : "float32", "\"\n    device = \"cpu\"\n");
  if (counter) return text + "    min_val = 0\n    max_val = 0\n\n\n";
  const double mean = TypicalMean(name, sizes);
  text += Cat("    mean = ", NumberText(mean), "\n    std = ", NumberText(TypicalStd(name, sizes, mean)), "\n");
  if (IsRunningVariance(name)) text += "    min_val = 0\n";
  return text + "    data = None\n\n\n";
}

}  // namespace

absl::StatusOr<std::string> SynthesizeWeightMeta(std::string_view model, std::string_view constraints,
                                                 const Limits& limits) {
  std::vector<Location> locations;
  const absl::StatusOr<Graph> graph = ParseModelFile(model, limits, &locations);
  if (!graph.ok()) return graph.status();
  if (absl::Status status = CheckSize(constraints, kConstraintsFile, limits); !status.ok()) return status;
  absl::StatusOr<Shapes> shapes = ConstraintsParser(constraints, limits).Run();
  if (!shapes.ok()) return shapes.status();
  std::string text;
  for (size_t i = 0; i < graph->parameters.size(); ++i) {
    const Parameter& parameter = graph->parameters[i];
    const auto refuse = [&](std::string_view why) {
      return Refusal(absl::StatusCode::kInvalidArgument, kModelFile, locations[i].line, locations[i].column,
                     Cat("the parameter ", Quoted(parameter.name), why));
    };
    const auto shape = shapes->find(parameter.name);
    if (shape == shapes->end()) return refuse(Cat(" has no shape in ", kConstraintsFile));
    if (parameter.annotation == Annotation::kSymInt) {
      return refuse(Cat(" is a torch.SymInt, and ", kConstraintsFile, " does not tell its value"));
    }
    shape->second.used = true;
    text += ClassText(parameter.name, shape->second.sizes);
  }
  // The first of them in the file.
  const TensorShape* unused = nullptr;
  std::string_view name;
  for (const auto& [tensor, shape] : *shapes) {
    const bool before = unused == nullptr || std::pair(shape.location.line, shape.location.column) <
                                                 std::pair(unused->location.line, unused->location.column);
    if (!shape.used && before) unused = &shape, name = tensor;
  }
  if (unused != nullptr) {
    return Refusal(absl::StatusCode::kInvalidArgument, kConstraintsFile, unused->location.line, unused->location.column,
                   Cat("the tensor ", Quoted(name), " is not a parameter of forward"));
  }
  return text;
}

}  // namespace assay::graph
