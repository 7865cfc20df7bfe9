// Serves the runner protocol (runner/protocol.md) with one PJRT plug-in: the compiler `xla`, for the plug-in's devices
// or for topologies, for which it only compiles. The graph is lowered to StableHLO by `lower`, or when it is first
// compiled; that time is reported apart, as `lowering_ns`. Thread safety: none.
#pragma once

#include <boost/json.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "runner/cache_sweep.h"
#include "runner/channel.h"
#include "runner/pjrt/client.h"
#include "runner/pjrt/inputs.h"
#include "runner/pjrt/lowering.h"
#include "runner/pjrt/options.h"
#include "runner/pjrt/target.h"

namespace assay::pjrt {

class Service {
 public:
  // `configs`: one of devices, or any number of topologies.
  Service(std::unique_ptr<Plugin> plugin, std::vector<TargetConfig> configs, Lowering lowering)
      : plugin_(std::move(plugin)), configs_(std::move(configs)), lowering_(std::move(lowering)) {}

  // Answers requests until `close` or end of file.
  absl::Status Serve(runner::Channel& channel);

 private:
  struct Error {
    std::string_view error_class;
    std::string message;
  };
  using Reply = std::variant<boost::json::object, Error>;

  Reply Answer(runner::Message& message);
  Reply Describe();
  Reply Load(const boost::json::object& params, runner::Message& message);
  Reply AddInputs(const boost::json::object& params, runner::Message& message);
  Reply Lower(runner::Message& message);
  Reply Compile(const boost::json::object& params);
  Reply Run(const boost::json::object& params, runner::Message& message);
  Reply Pair(const boost::json::object& params, runner::Message& message);
  Reply Artifact(const boost::json::object& params, runner::Message& message);
  Reply Release(const boost::json::object& params);

  absl::Status OpenTarget(const std::string& device, int threads);
  absl::Status LowerGraph(std::string_view kept, std::string* keep);
  absl::StatusOr<CompiledProgram*> Find(int64_t handle);
  absl::StatusOr<const Program*> FindProgram(int64_t handle);
  absl::StatusOr<std::vector<PJRT_Buffer*>> ArgumentsOf(std::string_view set);
  absl::StatusOr<int64_t> WriteOutputs(const std::vector<Buffer>& outputs, int fd);
  static Reply ArgumentFailure(const absl::Status& status);
  static Reply Failure(const absl::Status& status, std::string_view otherwise);

  // The members are destroyed from the last to the first: programs and buffers before the target, that before the
  // plug-in.
  std::unique_ptr<Plugin> plugin_;
  std::vector<TargetConfig> configs_;
  Lowering lowering_;
  std::unique_ptr<Target> target_;
  int device_ = 0;
  std::string model_;
  std::optional<Inputs> inputs_;
  std::optional<Lowered> lowered_;
  int64_t lowering_ns_ = 0;
  std::map<int64_t, CompiledProgram> compiled_;
  std::unique_ptr<runner::CacheSweep> cold_;  // made when first asked for
  int64_t next_handle_ = 1;
};

}  // namespace assay::pjrt
