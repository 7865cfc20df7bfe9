#include "runner/torch/composites.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "runner/torch/errors.h"

namespace assay::torch_runner {
namespace {

// The value of a default as the callee table writes it. Those that only a schema understands stay None; composites that
// have such a parameter do not read it unless it is given.
Value DefaultValue(std::string_view text) {
  if (text == "True") return Value::Constant(true);
  if (text == "False") return Value::Constant(false);
  if (text == "()") return Value::Sequence({});
  if (text.size() >= 2 && text.front() == '\'') return Value::Constant(std::string(text.substr(1, text.size() - 2)));
  const char* const end = text.data() + text.size();
  int64_t whole = 0;
  if (const auto r = std::from_chars(text.data(), end, whole); r.ec == std::errc() && r.ptr == end)
    return Value::Constant(whole);
  double real = 0;
  if (const auto r = std::from_chars(text.data(), end, real); r.ec == std::errc() && r.ptr == end)
    return Value::Constant(real);
  return Value::None();
}

}  // namespace

Arguments::Arguments(const graph::Callee& callee, const graph::Binding& binding, std::vector<Value> values)
    : callee_(callee), binding_(binding), values_(std::move(values)) {
  for (const auto& parameter : binding.signature->parameters) defaults_.push_back(DefaultValue(parameter.default_text));
}

size_t Arguments::IndexOf(std::string_view name) const {
  const auto& parameters = binding_.signature->parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) return i;
  }
  return parameters.size();
}

const Value& Arguments::operator[](std::string_view name) const {
  const size_t i = IndexOf(name);
  if (i == defaults_.size()) {
    static const Value none;
    return none;  // another of the callee's signatures was chosen
  }
  const int argument = binding_.arguments[i];
  return argument < 0 ? defaults_[i] : values_[argument];
}

bool Arguments::given(std::string_view name) const {
  const size_t i = IndexOf(name);
  return i < defaults_.size() && binding_.arguments[i] >= 0;
}

std::vector<Value> Arguments::Variadic(std::string_view name) const {
  const size_t i = IndexOf(name);
  if (i == defaults_.size() || binding_.arguments[i] < 0) return {};
  const Value& first = values_[binding_.arguments[i]];
  if (binding_.variadic_count <= 1 && first.is_sequence()) return first.items;
  const size_t count = std::max(binding_.variadic_count, 1);
  return {values_.begin() + binding_.arguments[i], values_.begin() + binding_.arguments[i] + count};
}

bool Arguments::Bool(std::string_view name) const {
  const Value& v = (*this)[name];
  if (v.is_bool() && v.constant()) return v.now.toBool();
  throw Unsupported(c10::str(callee_.name, ": ", name, " is ", v.Describe(), "; True or False is needed"));
}

int64_t Arguments::Int(std::string_view name) const {
  const Value& v = (*this)[name];
  if (v.is_int()) return v.now.toInt();
  throw Unsupported(c10::str(callee_.name, ": ", name, " is ", v.Describe(), "; an integer is needed"));
}

std::string_view Arguments::String(std::string_view name) const {
  const Value& v = (*this)[name];
  if (v.is_string()) return v.now.toStringRef();
  throw Unsupported(c10::str(callee_.name, ": ", name, " is ", v.Describe(), "; a string is needed"));
}

Composite FindComposite(std::string_view name) {
  static const auto* table = [] {
    auto* map = new std::map<std::string_view, Composite>;
    for (const auto& part : {OperatorComposites(), IndexingComposites(), TensorComposites(), FunctionalComposites(),
                             AttentionComposites(), ScopeComposites()}) {
      for (const NamedComposite& composite : part) map->emplace(composite.name, composite.function);
    }
    return map;
  }();
  const auto it = table->find(name);
  return it == table->end() ? nullptr : it->second;
}

}  // namespace assay::torch_runner
