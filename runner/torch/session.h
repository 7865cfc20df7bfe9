// Serves one trial: the requests of runner/protocol.md on one channel, from `load` to `close`.
// Thread safety: none.
#pragma once

#include <boost/json.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "runner/channel.h"
#include "runner/torch/compiled.h"
#include "runner/torch/device.h"
#include "runner/torch/errors.h"
#include "runner/torch/inputs.h"

namespace assay::torch_runner {

// The result of `describe`.
boost::json::object Describe();

class Session {
 public:
  explicit Session(runner::Channel channel) : channel_(std::move(channel)) {}

  // Until `close` or end of file. The process's exit code.
  int Serve();

 private:
  using Json = boost::json::object;
  struct Loaded {
    explicit Loaded(c10::Device device_) : device(device_), inputs(device_) {}
    graph::Graph graph;
    c10::Device device;
    Inputs inputs;
    std::shared_ptr<const Program> program;
    std::vector<bool> constant;      // parameters that may be frozen
    std::vector<std::string> names;  // of the parameters
  };

  // Each answers one request: a result, or an Error thrown as Failure.
  Json Answer(const std::string& method, const Json& params, runner::Message& message);
  Json Load(const Json& params, runner::Message& message);
  Json AddInputs(const Json& params, runner::Message& message);
  Json CompileGraph(const Json& params, runner::Message& message);
  Json RunOnce(const Json& params, runner::Message& message);
  Json Pair(const Json& params, runner::Message& message);
  Json Artifact(const Json& params, runner::Message& message);
  Json Profile(const Json& params);
  Json Release(const Json& params);

  Loaded& loaded();
  Compiled& compiled(int64_t handle);
  const std::vector<at::Tensor>& SetOf(const std::string& name);
  void Restore(const std::string& set);
  void Seed() const;

  runner::Channel channel_;
  std::unique_ptr<ColdCaches> cold_;  // made when first asked for
  runner::UniqueFd lock_;             // of the device, held as long as this process lives
  std::unique_ptr<Loaded> loaded_;
  std::map<int64_t, std::unique_ptr<Compiled>> compiled_;
  int64_t last_handle_ = 0;
  int default_threads_ = 0;
};

}  // namespace assay::torch_runner
