// The one place where LibTorch's exceptions become error classes of the protocol (runner/protocol.md).
// Thread safety: pure functions.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "absl/status/status.h"

namespace assay::torch_runner {

// What the graph needs and this runner does not have.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Error {
  std::string error_class;  // "runtime_fail" …
  std::string message;
};

// Calls `work`; where it throws, says what as an Error whose class is `otherwise` unless the exception itself says more
// (out of memory, Unsupported). True where nothing was thrown.
bool Guarded(const std::function<void()>& work, const char* otherwise, Error* error);

// The class that a status stands for.
Error ErrorOf(const absl::Status& status, const char* otherwise);

}  // namespace assay::torch_runner
