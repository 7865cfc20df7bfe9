// A PJRT plug-in: a shared library that exports GetPjrtApi(), loaded with RTLD_LOCAL and never unloaded (plug-ins hold
// threads). The function table of an older plug-in is shorter than the header's: every entry is checked against the
// table's own size before it is called.
// Thread safety: const methods may be called from any number of threads.
#pragma once

#include <string.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pjrt_c_api.h"

namespace assay::pjrt {

class Plugin {
 public:
  // NotFound or FailedPrecondition say what is wrong with the file, and what to do.
  static absl::StatusOr<std::unique_ptr<Plugin>> Load(const std::string& path);

  // True where the plug-in's table reaches `entry` and has it.
  template <typename Function>
  bool Has(Function* PJRT_Api::*entry) const {
    const auto offset = reinterpret_cast<const char*>(&(api_->*entry)) - reinterpret_cast<const char*>(api_);
    return static_cast<size_t>(offset) + sizeof(Function*) <= api_->struct_size && api_->*entry != nullptr;
  }

  // Calls an entry that takes `args` (made by Args<T>()). Unimplemented where the plug-in lacks it, else what it says.
  template <typename Function, typename Args>
  absl::Status Call(Function* PJRT_Api::*entry, Args& args, std::string_view name) const {
    if (!Has(entry)) return MissingEntry(name);
    return StatusOf((api_->*entry)(&args));
  }

  // Takes the error over.
  absl::Status StatusOf(PJRT_Error* error) const;

  // Waits for `event` and destroys it. Nothing for nullptr.
  absl::Status Await(PJRT_Event* event) const;

  const PJRT_Api& api() const { return *api_; }
  const std::string& path() const { return path_; }
  // "0.81": of the plug-in, not of the header.
  std::string api_version() const;  // "0.81"
  int api_minor() const { return api_->pjrt_api_version.minor_version; }
  // "1.13.0", or empty where the plug-in does not say.
  const std::string& stablehlo_version() const { return stablehlo_version_; }
  // What identifies the file: its GNU build-id, or the SHA-256 of its bytes where it has none (some 0.5 s).
  absl::StatusOr<std::string> Build() const;

 private:
  Plugin() = default;
  absl::Status MissingEntry(std::string_view name) const;
  absl::Status ReadAttributes();

  std::string path_, stablehlo_version_;
  const PJRT_Api* api_ = nullptr;
  const void* in_library_ = nullptr;  // an address in it
};

// An argument struct, zeroed, with its size set as the header's *_STRUCT_SIZE says.
template <typename T>
T Args(size_t struct_size) {
  T args;
  memset(&args, 0, sizeof args);
  args.struct_size = struct_size;
  return args;
}
#define ASSAY_PJRT_ARGS(type) ::assay::pjrt::Args<type>(type##_STRUCT_SIZE)

}  // namespace assay::pjrt
