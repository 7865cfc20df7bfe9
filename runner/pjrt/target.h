// What programs are compiled for: the devices of a plug-in's client, or a topology, a description of devices that are
// not here, for which programs are only compiled. Thread safety: none.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runner/pjrt/client.h"
#include "runner/pjrt/plugin.h"

namespace assay::pjrt {

// The worker's configuration of a target.
struct TargetConfig {
  CreateOptions options;                // of the client or the topology
  std::optional<std::string> topology;  // "v5e:1x1"
  std::string label;                    // how a topology's device is called: "v5e"; the topology where it is empty

  const std::string& name() const { return label.empty() && topology ? *topology : label; }
};

// One option from the command line: NAME=VALUE, the value true, false, an integer or text; "@FILE" stands for the
// file's text.
absl::Status AddOption(std::string_view text, CreateOptions& options);

// Sets the environment that plug-ins want where their devices are not here. To be called before a plug-in is loaded.
void PrepareForTopologies();

struct TargetDevice {
  std::string kind;  // "cpu", "cuda", "tpu"; of a topology "tpu:v5e"
  std::string id;    // "cpu", "cuda:0"; of a topology as its kind
  std::string model;
  std::string uuid;  // of the physical device; of a topology that of the host, which does the work
  int64_t memory_bytes = 0;
};

struct CompiledProgram {
  std::unique_ptr<Program> program;  // none for a topology
  ProgramFacts facts;
  int64_t compile_ns = 0;  // the plug-in's own time
};

class Target {
 public:
  // `threads` is how many threads a CPU's programs may use; 0: the plug-in's own default.
  static absl::StatusOr<std::unique_ptr<Target>> Open(const Plugin* plugin, const TargetConfig& config, int threads);

  const std::string& platform() const { return platform_; }  // "cpu", "cuda", "tpu"
  const std::string& platform_version() const { return version_; }
  const std::vector<TargetDevice>& devices() const { return devices_; }
  const Client* client() const { return client_.get(); }  // nullptr for a topology
  int threads() const { return threads_; }

  absl::StatusOr<CompiledProgram> Compile(std::string_view stablehlo, const std::string& options) const;

 private:
  Target() = default;
  absl::Status OpenClient(const Plugin* plugin, const TargetConfig& config);
  absl::Status OpenTopology(const Plugin* plugin, const TargetConfig& config);
  absl::StatusOr<CompiledProgram> CompileForTopology(std::string_view stablehlo, const std::string& options) const;

  const Plugin* plugin_ = nullptr;
  std::unique_ptr<Client> client_;
  TopologyHandle topology_;
  std::string platform_, version_;
  std::vector<TargetDevice> devices_;
  int threads_ = 0;
};

}  // namespace assay::pjrt
