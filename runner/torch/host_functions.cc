#include "runner/torch/host_functions.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>

#include <array>
#include <cmath>
#include <utility>

#include "runner/torch/scopes.h"

namespace assay::torch_runner {
namespace {

c10::IValue Take(c10::Stack& stack) {
  c10::IValue value = std::move(stack.back());
  stack.pop_back();
  return value;
}

bool IsReal(const c10::IValue& v) { return v.isDouble(); }
double Real(const c10::IValue& v) {
  return v.isDouble() ? v.toDouble() : v.isBool() ? v.toBool() : static_cast<double>(v.toInt());
}
int64_t Whole(const c10::IValue& v) { return v.isBool() ? v.toBool() : v.toInt(); }

int64_t FloorDivide(int64_t a, int64_t b) {
  TORCH_CHECK(b != 0, "integer division or modulo by zero");
  const int64_t q = a / b;
  return (a % b != 0) && ((a < 0) != (b < 0)) ? q - 1 : q;
}

// CPython's float_divmod.
std::pair<double, double> FloorDivide(double a, double b) {
  TORCH_CHECK(b != 0, "float division by zero");
  double mod = std::fmod(a, b);
  double div = (a - mod) / b;
  if (mod != 0) {
    if ((b < 0) != (mod < 0)) mod += b, div -= 1.0;
  } else {
    mod = std::copysign(0.0, b);
  }
  double floored = div != 0 ? std::floor(div) : std::copysign(0.0, a / b);
  if (div - floored > 0.5) floored += 1.0;
  return {floored, mod};
}

template <typename OnInts, typename OnReals>
void Binary(c10::Stack& stack, OnInts on_ints, OnReals on_reals) {
  const c10::IValue b = Take(stack), a = Take(stack);
  if (IsReal(a) || IsReal(b)) {
    stack.push_back(on_reals(Real(a), Real(b)));
  } else {
    stack.push_back(on_ints(Whole(a), Whole(b)));
  }
}

int64_t Power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (; exponent > 0; --exponent)
    TORCH_CHECK(!__builtin_mul_overflow(result, base, &result), "integer power overflows");
  return result;
}

struct Named {
  std::string_view op;
  HostFunction function;
};

const std::array<Named, 13> kArithmetic = {{
    {"+",
     {"+",
      [](c10::Stack& s) {
        Binary(
            s, [](int64_t a, int64_t b) { return a + b; }, [](double a, double b) { return a + b; });
      },
      "aten::add"}},
    {"-",
     {"-",
      [](c10::Stack& s) {
        Binary(
            s, [](int64_t a, int64_t b) { return a - b; }, [](double a, double b) { return a - b; });
      },
      "aten::sub"}},
    {"*",
     {"*",
      [](c10::Stack& s) {
        Binary(
            s, [](int64_t a, int64_t b) { return a * b; }, [](double a, double b) { return a * b; });
      },
      "aten::mul"}},
    {"/",
     {"/",
      [](c10::Stack& s) {
        Binary(
            s,
            [](int64_t a, int64_t b) {
              TORCH_CHECK(b != 0, "division by zero");
              return static_cast<double>(a) / static_cast<double>(b);
            },
            [](double a, double b) {
              TORCH_CHECK(b != 0, "float division by zero");
              return a / b;
            });
      },
      "aten::div"}},
    {"//",
     {"//",
      [](c10::Stack& s) {
        Binary(
            s, [](int64_t a, int64_t b) { return FloorDivide(a, b); },
            [](double a, double b) { return FloorDivide(a, b).first; });
      },
      "aten::floordiv"}},
    {"%",
     {"%",
      [](c10::Stack& s) {
        Binary(
            s, [](int64_t a, int64_t b) { return a - b * FloorDivide(a, b); },
            [](double a, double b) { return FloorDivide(a, b).second; });
      },
      "aten::remainder"}},
    {"**",
     {"**",
      [](c10::Stack& s) {
        const c10::IValue b = Take(s), a = Take(s);
        if (IsReal(a) || IsReal(b) || Whole(b) < 0) {
          s.push_back(std::pow(Real(a), Real(b)));
        } else {
          s.push_back(Power(Whole(a), Whole(b)));
        }
      },
      nullptr}},
    {"==",
     {"==",
      [](c10::Stack& s) {
        Binary(
            s, [](int64_t a, int64_t b) { return a == b; }, [](double a, double b) { return a == b; });
      },
      "aten::eq"}},
    {"!=",
     {"!=",
      [](c10::Stack& s) {
        Binary(
            s, [](int64_t a, int64_t b) { return a != b; }, [](double a, double b) { return a != b; });
      },
      "aten::ne"}},
    {"<",
     {"<",
      [](c10::Stack& s) {
        Binary(
            s, [](int64_t a, int64_t b) { return a < b; }, [](double a, double b) { return a < b; });
      },
      "aten::lt"}},
    {"<=",
     {"<=",
      [](c10::Stack& s) {
        Binary(
            s, [](int64_t a, int64_t b) { return a <= b; }, [](double a, double b) { return a <= b; });
      },
      "aten::le"}},
    {">",
     {">",
      [](c10::Stack& s) {
        Binary(
            s, [](int64_t a, int64_t b) { return a > b; }, [](double a, double b) { return a > b; });
      },
      "aten::gt"}},
    {">=",
     {">=",
      [](c10::Stack& s) {
        Binary(
            s, [](int64_t a, int64_t b) { return a >= b; }, [](double a, double b) { return a >= b; });
      },
      "aten::ge"}},
}};

}  // namespace

const HostFunction* Arithmetic(std::string_view op) {
  for (const Named& named : kArithmetic) {
    if (named.op == op) return &named.function;
  }
  return nullptr;
}

const HostFunction kItem = {"item", [](c10::Stack& s) { s.push_back(c10::IValue(Take(s).toTensor().item())); },
                            "aten::item"};

const HostFunction kNegate = {"neg",
                              [](c10::Stack& s) {
                                const c10::IValue a = Take(s);
                                if (IsReal(a))
                                  s.push_back(-a.toDouble());
                                else
                                  s.push_back(-Whole(a));
                              },
                              "aten::neg"};

const HostFunction kSymInt = {"sym_int",
                              [](c10::Stack& s) {
                                const c10::IValue a = Take(s);
                                s.push_back(IsReal(a) ? static_cast<int64_t>(std::trunc(a.toDouble())) : Whole(a));
                              },
                              "aten::Int"};

const HostFunction kTensorOfNumbers = {
    "tensor",
    [](c10::Stack& s) {
      const auto dtype = static_cast<c10::ScalarType>(Take(s).toInt());
      const std::vector<int64_t> shape = Take(s).toIntVector();
      std::vector<at::Tensor> items;
      for (const c10::IValue& v : s) {
        items.push_back(v.isTensor() ? v.toTensor().detach().to(dtype).cpu() : at::scalar_tensor(v.toScalar(), dtype));
      }
      at::Tensor result = items.empty() ? at::empty({0}, dtype) : at::stack(items);
      s.clear();
      s.push_back(result.reshape(shape));
    },
    nullptr};

const HostFunction kAssertScalar = {"_assert_scalar",
                                    [](c10::Stack& s) {
                                      const std::string message = Take(s).toStringRef();
                                      const c10::IValue value = Take(s);
                                      TORCH_CHECK(value.isTensor() ? value.toTensor().item<bool>() : Real(value) != 0,
                                                  message);
                                      s.push_back(c10::IValue());
                                    },
                                    nullptr};

const HostFunction kPushVmapLevel = {"_vmap_increment_nesting",
                                     [](c10::Stack& s) {
                                       const std::string randomness = Take(s).toStringRef();
                                       s.push_back(PushVmapLevel(Take(s).toInt(), randomness));
                                     },
                                     nullptr};

const HostFunction kPopVmapLevel = {"_vmap_decrement_nesting", [](c10::Stack& s) { s.push_back(PopVmapLevel()); },
                                    nullptr};

const HostFunction kAddBatchDim = {"_add_batch_dim",
                                   [](c10::Stack& s) {
                                     const int64_t level = Take(s).toInt(), dim = Take(s).toInt();
                                     s.push_back(AddBatchDim(Take(s).toTensor(), dim, level));
                                   },
                                   nullptr};

const HostFunction kRemoveBatchDim = {"_remove_batch_dim",
                                      [](c10::Stack& s) {
                                        const int64_t out_dim = Take(s).toInt(), size = Take(s).toInt(),
                                                      level = Take(s).toInt();
                                        s.push_back(RemoveBatchDim(Take(s).toTensor(), level, size, out_dim));
                                      },
                                      nullptr};

const HostFunction kEnterAutocast = {
    "_enter_autocast",
    [](c10::Stack& s) {
      const c10::IValue cache = Take(s), enabled = Take(s), dtype = Take(s);
      const auto device = static_cast<c10::DeviceType>(Take(s).toInt());
      EnterAutocast(device, dtype.isNone() ? std::nullopt : std::optional(static_cast<c10::ScalarType>(dtype.toInt())),
                    enabled.toBool(), cache.isNone() ? std::nullopt : std::optional(cache.toBool()));
      s.push_back(c10::IValue());
    },
    nullptr};

const HostFunction kExitAutocast = {"_exit_autocast",
                                    [](c10::Stack& s) {
                                      ExitAutocast();
                                      s.push_back(c10::IValue());
                                    },
                                    nullptr};

const HostFunction kSetGradEnabled = {"_set_grad_enabled",
                                      [](c10::Stack& s) {
                                        at::GradMode::set_enabled(Take(s).toBool());
                                        s.push_back(c10::IValue());
                                      },
                                      nullptr};

}  // namespace assay::torch_runner
