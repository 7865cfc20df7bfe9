// assay-runner-pjrt: serves the runner protocol with a PJRT plug-in (runner/protocol.md). The worker's configuration
// holds its command line.
#include <fcntl.h>

#include <iostream>
#include <string>
#include <vector>

#include "runner/channel.h"
#include "runner/pjrt/lowering.h"
#include "runner/pjrt/plugin.h"
#include "runner/pjrt/service.h"
#include "runner/pjrt/status.h"
#include "runner/pjrt/target.h"
#include "runner/unique_fd.h"

namespace {

constexpr char kUsage[] =
    R"(usage: assay-runner-pjrt --plugin FILE [OPTION…] [--lowering COMMAND…]
  --plugin FILE          the PJRT plug-in, a shared library
  --topology NAME        compile only, for devices that are not here ("v5e:1x1"); again for more
  --label NAME           what the device of the topology before it is called ("v5e")
  --plugin-option N=V    an option of the topology before it, or of the client; V is true, false, an integer, text or @FILE
  --lowering COMMAND…    lowers graphs to StableHLO (runner/lowering); takes the rest of the line
)";

int Fail(std::string_view message) {
  std::cerr << "assay-runner-pjrt: " << message << "\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string plugin_file;
  std::vector<std::string> lowering;
  std::vector<assay::pjrt::TargetConfig> configs(1);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& flag = arguments[i];
    if (flag == "--help") {
      std::cout << kUsage;
      return 0;
    }
    if (i + 1 == arguments.size()) return Fail(flag + " needs a value, or is unknown; --help lists the options");
    const std::string& value = arguments[++i];
    if (flag == "--plugin") {
      plugin_file = value;
    } else if (flag == "--topology") {
      if (configs.back().topology) configs.emplace_back();
      configs.back().topology = value;
    } else if (flag == "--label") {
      configs.back().label = value;
    } else if (flag == "--plugin-option") {
      const absl::Status status = assay::pjrt::AddOption(value, configs.back().options);
      if (!status.ok()) return Fail(assay::pjrt::Said(status));
    } else if (flag == "--lowering") {
      lowering.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      break;
    } else {
      return Fail(flag + " is unknown; --help lists the options");
    }
  }
  if (plugin_file.empty()) return Fail("--plugin is missing; --help lists the options");

  namespace runner = assay::runner;
  // Not for the lowering's process.
  if (fcntl(runner::kRequestFd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(runner::kReplyFd, F_SETFD, FD_CLOEXEC) != 0) {
    return Fail("descriptors 3 and 4 must be the sockets of the runner protocol: this program is started by a worker");
  }
  runner::Channel channel{runner::UniqueFd(runner::kRequestFd), runner::UniqueFd(runner::kReplyFd)};
  if (configs.back().topology) assay::pjrt::PrepareForTopologies();
  auto plugin = assay::pjrt::Plugin::Load(plugin_file);
  if (!plugin.ok()) return Fail(assay::pjrt::Said(plugin.status()));
  assay::pjrt::Service service(*std::move(plugin), std::move(configs), assay::pjrt::Lowering(std::move(lowering)));
  const absl::Status status = service.Serve(channel);
  return status.ok() ? 0 : Fail(assay::pjrt::Said(status));
}
