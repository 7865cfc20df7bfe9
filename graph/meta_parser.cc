#include "graph/meta_parser.h"

#include <cmath>
#include <limits>
#include <utility>

#include "graph/lexer.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

using Number = std::variant<int64_t, double, bool>;

double AsDouble(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

// The range of the values of an integer type.
std::pair<double, double> RangeOf(DType dtype) {
  const int bits = 8 * ElementSize(dtype);
  if (dtype == DType::kUInt8) return {0, 255};
  const double limit = std::ldexp(1.0, bits - 1);
  // The largest float64 below 2^63 is the highest bound that int64 has.
  return {-limit, bits == 64 ? std::nextafter(limit, 0.0) : limit - 1};
}

void Normalise(TensorMeta& meta);

class MetaParser {
 public:
  MetaParser(std::string_view text, std::string_view file, const Limits& limits)
      : lexer_(text, file), limits_(limits) {}

  absl::StatusOr<std::vector<ParsedMeta>> Run() {
    lexer_.Advance();
    while (!lexer_.Is(TokenKind::kEnd)) {
      if (!Class()) return lexer_.status();
    }
    return std::move(metas_);
  }

 private:
  // Which attributes a class has given.
  enum Attribute : uint32_t {
    kName,
    kOriginalName,
    kShape,
    kDType,
    kDevice,
    kMean,
    kStd,
    kMin,
    kMax,
    kData,
    kAttributes,
  };
  static constexpr std::string_view kAttributeNames[kAttributes] = {
      "name", "original_name", "shape", "dtype", "device", "mean", "std", "min_val", "max_val", "data"};

  bool Class();
  bool Value(Attribute attribute, TensorMeta* meta);
  bool String(std::string* value);
  bool Shape(std::vector<int64_t>* shape);
  bool OptionalNumber(std::optional<double>* value);
  bool Data(TensorMeta* meta);
  bool OneNumber(Number* value);
  bool NonFinite(Number* value);
  bool Check(const Token& at, uint32_t given, const TensorMeta& meta);
  bool CheckValues(const Token& at, const TensorMeta& meta);

  Lexer lexer_;
  const Limits& limits_;
  std::vector<ParsedMeta> metas_;
};

bool MetaParser::Class() {
  if (!lexer_.IsName("class") || lexer_.token().column != 1) {
    return lexer_.Expected("'class NAME:' at the beginning of the line");
  }
  if (metas_.size() >= limits_.parameters) {
    return lexer_.FailWith(absl::StatusCode::kResourceExhausted, lexer_.token(),
                           Cat("more tensors than the limit of ", limits_.parameters));
  }
  lexer_.Advance();
  const Token at = lexer_.token();
  if (at.kind != TokenKind::kName || at.dot != 0) return lexer_.Expected("the name of a class");
  lexer_.Advance();
  if (!lexer_.Take(Op(":"), "':'")) return false;
  if (!lexer_.Is(TokenKind::kNewline)) return lexer_.Expected("the end of the line");
  lexer_.Advance();
  ParsedMeta parsed;
  parsed.location = {at.line, at.column};
  uint32_t given = 0;
  const int column = lexer_.token().column;
  while (!lexer_.Is(TokenKind::kEnd) && lexer_.token().column != 1) {
    if (lexer_.token().column != column) return lexer_.Expected(Cat("an attribute at column ", column));
    uint32_t attribute = 0;
    while (attribute < kAttributes && !lexer_.IsName(kAttributeNames[attribute])) ++attribute;
    if (attribute == kAttributes) {
      return lexer_.Expected("one of name, original_name, shape, dtype, device, mean, std, min_val, max_val, data");
    }
    if (given >> attribute & 1) return lexer_.Fail(Cat("'", kAttributeNames[attribute], "' is given twice"));
    given |= 1u << attribute;
    lexer_.Advance();
    if (!lexer_.Take(Op("="), "'='")) return false;
    if (!Value(static_cast<Attribute>(attribute), &parsed.meta)) return false;
    if (!lexer_.Is(TokenKind::kNewline)) return lexer_.Expected("the end of the line");
    lexer_.Advance();
  }
  if (!Check(at, given, parsed.meta)) return false;
  Normalise(parsed.meta);
  metas_.push_back(std::move(parsed));
  return true;
}

bool MetaParser::Value(Attribute attribute, TensorMeta* meta) {
  std::string text;
  switch (attribute) {
    case kName:
      return String(&meta->name);
    case kOriginalName:
    case kDevice:
      return String(&text);
    case kDType: {
      const Token at = lexer_.token();
      if (!String(&text)) return false;
      const std::optional<DType> dtype = DTypeFromName(text);
      if (!dtype.has_value()) {
        std::string known;
        for (int i = 0; i < kDTypeCount; ++i) known += Cat(i == 0 ? "" : ", ", "torch.", Name(static_cast<DType>(i)));
        return lexer_.FailAt(at, Cat("unknown dtype '", text.substr(0, 80), "'; known are ", known));
      }
      meta->dtype = *dtype;
      return true;
    }
    case kShape:
      return Shape(&meta->shape);
    case kMean:
      return OptionalNumber(&meta->mean);
    case kStd:
      return OptionalNumber(&meta->std);
    case kMin:
      return OptionalNumber(&meta->min_val);
    case kMax:
      return OptionalNumber(&meta->max_val);
    default:
      return Data(meta);
  }
}

bool MetaParser::String(std::string* value) {
  const bool parenthesised = lexer_.Is(Op("("));
  if (parenthesised) lexer_.Advance();
  if (!lexer_.Is(TokenKind::kString)) return lexer_.Expected("a string");
  if (!StringValue(lexer_.token(), value)) return lexer_.Fail("a string's escapes are \\\\ \\' \\\" \\n \\r and \\t");
  lexer_.Advance();
  return !parenthesised || lexer_.Take(Op(")"), "')'");
}

bool MetaParser::Shape(std::vector<int64_t>* shape) {
  if (!lexer_.Is(Op("["))) return lexer_.Expected("'[' and the sizes of the dimensions");
  do {
    lexer_.Advance();
    if (lexer_.Is(Op("]"))) break;
    int64_t size = 0;
    if (!lexer_.Is(TokenKind::kInt)) return lexer_.Expected("a size, an integer of at least 0");
    if (!IntValue(lexer_.token(), false, &size)) return lexer_.Fail("the size does not fit 64 bits");
    shape->push_back(size);
    if (shape->size() > static_cast<size_t>(limits_.rank)) {
      return lexer_.FailWith(absl::StatusCode::kResourceExhausted, lexer_.token(),
                             Cat("more dimensions than the limit of ", limits_.rank));
    }
    lexer_.Advance();
  } while (lexer_.Is(Op(",")));
  return lexer_.Take(Op("]"), "',' or ']'");
}

bool MetaParser::OptionalNumber(std::optional<double>* value) {
  if (lexer_.IsName("None")) {
    lexer_.Advance();
    return true;
  }
  Number number;
  if (!OneNumber(&number)) return false;
  if (std::holds_alternative<bool>(number)) return lexer_.Fail("expected a number or None before this");
  *value = AsDouble(number);
  return true;
}

bool MetaParser::OneNumber(Number* value) {
  if (lexer_.IsName("float")) return NonFinite(value);
  if (lexer_.IsName("True") || lexer_.IsName("False")) {
    *value = lexer_.IsName("True");
    lexer_.Advance();
    return true;
  }
  const bool negative = lexer_.Is(Op("-"));
  if (negative) lexer_.Advance();
  if (lexer_.Is(TokenKind::kInt)) {
    int64_t integer = 0;
    if (!IntValue(lexer_.token(), negative, &integer)) return lexer_.Fail("the integer does not fit 64 bits");
    *value = integer;
  } else if (lexer_.Is(TokenKind::kFloat)) {
    double number = 0;
    if (!FloatValue(lexer_.token(), &number)) return lexer_.Fail("the number does not fit a 64-bit float");
    *value = negative ? -number : number;
  } else {
    return lexer_.Expected("a number, float(\"nan\"), float(\"inf\") or float(\"-inf\")");
  }
  lexer_.Advance();
  return true;
}

// float("nan"), float("inf"), float("-inf").
bool MetaParser::NonFinite(Number* value) {
  lexer_.Advance();
  if (!lexer_.Take(Op("("), "'('")) return false;
  const std::string_view text = lexer_.token().text;
  if (!lexer_.Is(TokenKind::kString) || (text != "nan" && text != "inf" && text != "-inf")) {
    return lexer_.Expected("\"nan\", \"inf\" or \"-inf\"");
  }
  const double infinity = std::numeric_limits<double>::infinity();
  *value = text == "nan" ? std::numeric_limits<double>::quiet_NaN() : text == "inf" ? infinity : -infinity;
  lexer_.Advance();
  return lexer_.Take(Op(")"), "')'");
}

bool MetaParser::Data(TensorMeta* meta) {
  if (lexer_.IsName("None")) {
    lexer_.Advance();
    return true;
  }
  if (!lexer_.Is(Op("["))) return lexer_.Expected("None or '[' and a flat list of numbers");
  meta->data.emplace().reserve(lexer_.ItemsAhead());
  do {
    lexer_.Advance();
    if (lexer_.Is(Op("]"))) break;
    Number number;
    if (!OneNumber(&number)) return false;
    meta->data->push_back(number);
  } while (lexer_.Is(Op(",")));
  return lexer_.Take(Op("]"), "',' or ']'");
}

bool MetaParser::Check(const Token& at, uint32_t given, const TensorMeta& meta) {
  for (const Attribute attribute : {kName, kShape, kDType}) {
    if (!(given >> attribute & 1)) return lexer_.FailAt(at, Cat("the class has no '", kAttributeNames[attribute], "'"));
  }
  // No size may pass the limit even beside a 0: strides are products of the sizes behind them.
  int64_t bytes = ElementSize(meta.dtype);
  for (const int64_t size : meta.shape) {
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes) || bytes > limits_.tensor_bytes) {
      return lexer_.FailWith(absl::StatusCode::kResourceExhausted, at,
                             Cat("the tensor's shape means more bytes than the limit of ", limits_.tensor_bytes));
    }
  }
  return CheckValues(at, meta);
}

bool MetaParser::CheckValues(const Token& at, const TensorMeta& meta) {
  if (meta.data.has_value()) {
    const int64_t elements = ElementCount(meta.shape);
    if (static_cast<int64_t>(meta.data->size()) != elements) {
      return lexer_.FailAt(at, Cat("'data' has ", meta.data->size(), " numbers, the shape means ", elements));
    }
  }
  if (!IsIntegral(meta.dtype)) return true;
  const auto [low, high] = RangeOf(meta.dtype);
  for (const auto& [name, bound] : {std::pair{"min_val", meta.min_val}, {"max_val", meta.max_val}}) {
    if (bound.has_value() && (!(*bound >= low && *bound <= high) || *bound != std::floor(*bound))) {
      return lexer_.FailAt(at, Cat("'", name, "' is not a value of ", Name(meta.dtype)));
    }
  }
  if (meta.min_val.has_value() && meta.max_val.has_value() && *meta.min_val > *meta.max_val) {
    return lexer_.FailAt(at, "'min_val' is greater than 'max_val'");
  }
  if (meta.data.has_value()) {
    for (const Number& number : *meta.data) {
      const double value = std::trunc(AsDouble(number));
      const bool fits =
          (std::holds_alternative<int64_t>(number) && meta.dtype == DType::kInt64) || (value >= low && value <= high);
      if (!fits) return lexer_.FailAt(at, Cat("'data' holds a number that is not a value of ", Name(meta.dtype)));
    }
  }
  return true;
}

// `[1]`, `[1.0]` and `[True]` mean the same tensor: the element type decides how they are kept.
void Normalise(TensorMeta& meta) {
  if (!meta.data.has_value()) return;
  for (Number& number : *meta.data) {
    if (meta.dtype == DType::kBool) {
      number = AsDouble(number) != 0;
    } else if (!IsIntegral(meta.dtype)) {
      number = AsDouble(number);
    } else if (!std::holds_alternative<int64_t>(number)) {
      number = static_cast<int64_t>(AsDouble(number));
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<ParsedMeta>> ParseMetaFile(std::string_view text, std::string_view file,
                                                      const Limits& limits) {
  if (absl::Status status = CheckSize(text, file, limits); !status.ok()) return status;
  return MetaParser(text, file, limits).Run();
}

}  // namespace assay::graph
