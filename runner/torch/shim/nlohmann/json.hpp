// ATen/functorch/Interpreter.h includes nlohmann/json, which LibTorch's wheel does not ship, to print the state of a
// vmap level. Nothing here does that: this declares what the header needs to compile.
#pragma once

#include <string>

namespace nlohmann {
class json {
 public:
  json() = default;
  template <typename T>
  json(const T&);
  std::string dump() const;
  static json parse(const std::string& text);
  template <typename T>
  T get() const;
};
}  // namespace nlohmann
