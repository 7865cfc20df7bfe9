// assay targets, assay workers.
#include "client/calibration_text.h"
#include "client/command.h"
#include "client/table.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

// "mode: default|max-autotune, threads: integer": the properties of a closed JSON schema.
std::string OptionsText(const google::protobuf::Struct& schema) {
  const auto properties = schema.fields().find("properties");
  if (properties == schema.fields().end()) return "";
  std::map<std::string, std::string> options;
  for (const auto& [name, property] : properties->second.struct_value().fields()) {
    const auto& fields = property.struct_value().fields();
    std::string& text = options[name];
    if (const auto values = fields.find("enum"); values != fields.end()) {
      for (const auto& value : values->second.list_value().values()) {
        if (!text.empty()) text += '|';
        text += value.has_string_value() ? value.string_value()
                : value.has_bool_value() ? (value.bool_value() ? "true" : "false")
                                         : fmt::format("{}", value.number_value());
      }
    } else if (const auto type = fields.find("type"); type != fields.end()) {
      text = type->second.string_value();
    }
  }
  std::string text;
  for (const auto& [name, values] : options) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, values);
  return text;
}

std::string TargetsText(const v1::ListTargetsResponse& list) {
  Table table({{"TARGET"},
               {"VERSION"},
               {"RUNNER"},
               {"ENVIRONMENT"},
               {"DEVICE"},
               {"BASELINE"},
               {"WORKERS", true},
               {"TIMES"},
               {"OPTIONS"}});
  for (const v1::OfferedTarget& offered : list.targets()) {
    const v1::Target& target = offered.target();
    table.Add({TargetWord(target), target.version(), target.runner(),
               fmt::format("{} ({})", target.environment(), target.environment_hash().substr(0, 8)),
               target.device_kind(), offered.compiles_only() ? "only compiles" : offered.baseline(),
               std::to_string(offered.live_workers()), offered.trusted() ? "trusted" : "self-reported",
               OptionsText(offered.options_schema())});
  }
  return list.targets().empty() ? "no targets: no worker has announced itself yet\n" : table.Text();
}

std::string WorkersText(const v1::ListWorkersResponse& list) {
  std::vector<v1::Calibration> calibrations;
  Table table({{"WORKER"}, {"NAME"}, {"STATE"}, {"LAST SEEN (UTC)"}, {"DEVICES"}, {"RUNNERS"}, {"SANDBOX"}, {"NOW"}});
  for (const v1::Worker& worker : list.workers()) {
    std::vector<std::string> devices, runners, now;
    calibrations.insert(calibrations.end(), worker.calibrations().begin(), worker.calibrations().end());
    for (const v1::Device& device : worker.devices())
      devices.push_back(fmt::format("{} ({})", device.id(), device.model()));
    for (const v1::Runner& runner : worker.runners()) {
      runners.push_back(runner.environment().empty() || runner.environment() == "default"
                            ? runner.name()
                            : runner.name() + "@env:" + runner.environment());
    }
    for (const v1::HeldTrial& held : worker.held())
      now.push_back(fmt::format("trial {}: {}", held.trial_id(), held.phase()));
    table.Add({worker.worker_id(), worker.name(),
               !worker.live()         ? "lost"
               : worker.draining()    ? "draining"
               : worker.running() > 0 ? "working"
                                      : "idle",
               When(worker.last_seen()), fmt::format("{}", fmt::join(devices, ", ")),
               fmt::format("{}", fmt::join(runners, ", ")), worker.sandbox(), fmt::format("{}", fmt::join(now, "; "))});
  }
  if (list.workers().empty()) return "no workers have announced themselves yet\n";
  if (calibrations.empty()) return table.Text() + "\nno device is calibrated: 'assay calibrate' does it\n";
  return table.Text() + "\nA/A error of the devices (newest calibrations)\n" + CalibrationText(calibrations);
}

}  // namespace

void AddFleet(CLI::App& app, Command& command) {
  AddSubcommand(app, "targets", "List what can be evaluated, with options",
                "  assay targets\n"
                "  assay targets --json                              with the whole schema of the options\n")
      ->callback([&command] {
        command.action = [&command] {
          return CallAndPrint(command, v1::ListTargetsRequest(),
                              [](const v1::ListTargetsResponse& list) { return Print(TargetsText(list)); });
        };
      });

  auto drain = std::make_shared<std::string>();
  CLI::App* workers =
      AddSubcommand(app, "workers", "List the workers and what they do",
                    "  assay workers\n"
                    "  assay workers --drain 4be1…                       takes nothing new, ends when idle (admin)\n");
  workers->add_option("--drain", *drain, "Id of a worker that is to end when it holds no trial");
  workers->callback([&command, drain] {
    command.action = [&command, drain] {
      if (!drain->empty()) {
        v1::DrainWorkerRequest request;
        request.set_worker_id(*drain);
        return CallAndPrint(command, request, [&](const v1::DrainWorkerResponse&) {
          return Print(fmt::format("worker {} takes nothing new\n", *drain));
        });
      }
      return CallAndPrint(command, v1::ListWorkersRequest(),
                          [](const v1::ListWorkersResponse& list) { return Print(WorkersText(list)); });
    };
  });
}

}  // namespace assay::client
