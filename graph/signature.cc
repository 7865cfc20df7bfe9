#include "graph/signature.h"

#include <algorithm>

#include "absl/status/status.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// The next item of a list that commas (or semicolons) part, outside of brackets and quotes.
std::string_view TakeItem(std::string_view& text, char separator) {
  int depth = 0;
  bool quoted = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == separator && depth == 0) break;
  }
  const std::string_view item = Trim(text.substr(0, i));
  text.remove_prefix(std::min(text.size(), i + 1));
  return item;
}

Signature ReadSignature(std::string_view text) {
  Signature signature;
  signature.text = text;
  std::string_view inner = text.substr(1, text.size() - 2);
  bool keyword_only = false;
  while (!inner.empty()) {
    std::string_view item = TakeItem(inner, ',');
    if (item == "*") {
      keyword_only = true;
      continue;
    }
    SignatureParameter parameter;
    parameter.keyword_only = keyword_only;
    if (item.starts_with('*')) {
      parameter.variadic = true;
      item.remove_prefix(1);
      signature.variadic = static_cast<int>(signature.parameters.size());
      keyword_only = true;
    }
    if (const size_t equals = item.find('='); equals != std::string_view::npos) {
      parameter.default_text = item.substr(equals + 1);
      item = item.substr(0, equals);
    }
    bool first = true;
    while (!item.empty()) {
      const std::string_view name = TakeItem(item, '|');
      if (first) {
        parameter.name = name;
      } else {
        parameter.aliases.push_back(name);
      }
      first = false;
    }
    if (!parameter.keyword_only) ++signature.positional_count;
    signature.parameters.push_back(std::move(parameter));
  }
  return signature;
}

// Binds one signature. `arguments`, where given, has room for one entry a parameter.
bool BindOne(const Signature& signature, size_t positional_count, std::span<const KeywordArgument> keyword,
             int* arguments, int* variadic_count, std::string* why) {
  uint64_t bound = 0;
  const auto bind = [&](int parameter, int argument) {
    bound |= uint64_t{1} << parameter;
    if (arguments != nullptr) arguments[parameter] = argument;
  };
  if (signature.variadic < 0 && positional_count > static_cast<size_t>(signature.positional_count)) {
    if (why) {
      *why = Cat("takes at most ", signature.positional_count, " positional argument(s), ", positional_count, " given");
    }
    return false;
  }
  for (size_t i = 0; i < positional_count; ++i) {
    if (signature.variadic >= 0 && i >= static_cast<size_t>(signature.variadic)) {
      bind(signature.variadic, signature.variadic);
      if (variadic_count) *variadic_count = static_cast<int>(positional_count) - signature.variadic;
      break;
    }
    bind(static_cast<int>(i), static_cast<int>(i));
  }
  for (size_t j = 0; j < keyword.size(); ++j) {
    const int parameter = signature.Find(keyword[j].name);
    if (parameter < 0) {
      if (why) *why = Cat("has no argument named '", keyword[j].name, "'");
      return false;
    }
    if (bound >> parameter & 1) {
      if (why) *why = Cat("argument '", keyword[j].name, "' is given twice");
      return false;
    }
    bind(parameter, static_cast<int>(positional_count + j));
  }
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    if (!(bound >> i & 1) && signature.parameters[i].default_text.empty()) {
      if (why) *why = Cat("argument '", signature.parameters[i].name, "' is missing");
      return false;
    }
  }
  return true;
}

std::string Expected(std::span<const Signature> signatures) {
  std::string out;
  for (const Signature& signature : signatures) {
    if (!out.empty()) out += " or ";
    out += signature.text;
  }
  return out;
}

}  // namespace

int Signature::Find(std::string_view keyword) const {
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == keyword) return static_cast<int>(i);
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    for (std::string_view alias : parameters[i].aliases) {
      if (alias == keyword) return static_cast<int>(i);
    }
  }
  return -1;
}

std::span<const Signature> SignaturesOf(const Callee& callee) {
  static const auto& all = *[] {
    auto* signatures = new std::vector<std::vector<Signature>>;
    for (const Callee& row : Callees()) {
      std::vector<Signature>& of_row = signatures->emplace_back();
      std::string_view text = row.signature;
      while (!text.empty()) of_row.push_back(ReadSignature(TakeItem(text, ';')));
    }
    return signatures;
  }();
  return all[&callee - Callees().data()];
}

bool Fits(const Callee& callee, size_t positional_count, std::span<const KeywordArgument> keyword, std::string* why) {
  const std::span<const Signature> signatures = SignaturesOf(callee);
  for (const Signature& signature : signatures) {
    if (BindOne(signature, positional_count, keyword, nullptr, nullptr, nullptr)) return true;
  }
  if (why != nullptr) {
    BindOne(signatures.back(), positional_count, keyword, nullptr, nullptr, why);
    *why = Cat("'", callee.name, "' ", *why, "; it takes ", Expected(signatures));
  }
  return false;
}

absl::StatusOr<Binding> Bind(const Operation& operation) {
  for (const Signature& signature : SignaturesOf(*operation.callee)) {
    Binding binding;
    binding.signature = &signature;
    binding.arguments.assign(signature.parameters.size(), -1);
    if (BindOne(signature, operation.positional.size(), operation.keyword, binding.arguments.data(),
                &binding.variadic_count, nullptr)) {
      return binding;
    }
  }
  std::string why;
  Fits(*operation.callee, operation.positional.size(), operation.keyword, &why);
  return absl::InvalidArgumentError(why);
}

}  // namespace assay::graph
