#include "runner/torch/errors.h"

#include <c10/util/Exception.h>

#include <new>

namespace assay::torch_runner {
namespace {

// Allocators of LibTorch say out of memory in words only.
bool SaysOutOfMemory(const std::string& message) {
  return message.find("not enough memory") != std::string::npos || message.find("out of memory") != std::string::npos ||
         message.find("can't allocate memory") != std::string::npos;
}

}  // namespace

bool Guarded(const std::function<void()>& work, const char* otherwise, Error* error) {
  try {
    work();
    return true;
  } catch (const Unsupported& e) {
    *error = {"unsupported", e.what()};
  } catch (const c10::OutOfMemoryError& e) {
    *error = {"out_of_memory", e.what_without_backtrace()};
  } catch (const c10::Error& e) {
    const std::string message = e.what_without_backtrace();
    *error = {SaysOutOfMemory(message) ? "out_of_memory" : otherwise, message};
  } catch (const std::bad_alloc& e) {
    *error = {"out_of_memory", "the host's memory is used up"};
  } catch (const std::exception& e) {
    *error = {SaysOutOfMemory(e.what()) ? "out_of_memory" : otherwise, e.what()};
  }
  return false;
}

Error ErrorOf(const absl::Status& status, const char* otherwise) {
  std::string message(status.message());
  switch (status.code()) {
    case absl::StatusCode::kUnimplemented:
      return {"unsupported", std::move(message)};
    case absl::StatusCode::kResourceExhausted:
      return {"out_of_memory", std::move(message)};
    case absl::StatusCode::kInternal:
      return {"internal", std::move(message)};
    default:
      return {otherwise, std::move(message)};
  }
}

}  // namespace assay::torch_runner
