// Devices that graphs can run on: the host, and what LibTorch's CUDA library, loaded at run time where the wheel has
// one, offers. Devices() does not initialise CUDA: the process that forks must not. Thread safety: none.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runner/cache_sweep.h"

namespace assay::torch_runner {

struct DeviceInfo {
  std::string kind;  // "cpu"
  std::string id;    // "cpu", "cuda:0"
  std::string model;
  std::string uuid;
  int64_t memory_bytes = 0;
};

// All devices, the host first. Loads LibTorch's CUDA library where there is one, and asks the driver's management
// library about GPUs.
std::vector<DeviceInfo> Devices();

// The device that a request names by its id or its kind. NotFound (Unimplemented) where there is none.
absl::StatusOr<c10::Device> FindDevice(std::string_view name);

// Waits until the device has done all that it was given.
void Synchronize(c10::Device device);

// Measures a stretch of work on the device's own clock.
class DeviceTimer {
 public:
  explicit DeviceTimer(c10::Device device);
  ~DeviceTimer();
  bool has_clock() const;
  void Start();
  void Stop();
  // After Synchronize().
  int64_t nanoseconds() const;

 private:
  struct Events;
  const c10::Device device_;
  std::unique_ptr<Events> events_;
};

// Empties the caches that calls on a device use: those of the host's processors, or an accelerator's own.
class ColdCaches {
 public:
  explicit ColdCaches(c10::Device device);
  void Sweep();

 private:
  const c10::Device device_;
  std::optional<runner::CacheSweep> host_;
  at::Tensor buffer_;  // on an accelerator
};

// The largest amount of host memory that this process has had, in bytes.
int64_t PeakMemoryBytes();

// Identifies LibTorch and this program exactly: their build ids.
std::string BuildIdentity();

}  // namespace assay::torch_runner
