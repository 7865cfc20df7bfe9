#include "client/command.h"

#include <cerrno>
#include <cstdio>

#include "client/json.h"
#include "client/table.h"
#include "client/text.h"
#include "fmt/format.h"

namespace assay::client {

absl::StatusOr<std::unique_ptr<Api>> Command::Connect() const {
  const absl::StatusOr<Endpoint> found = FindEndpoint(endpoint);
  if (!found.ok()) return found.status();
  return Api::Connect(*found);
}

int Fail(const absl::Status& status) {
  fmt::print(stderr, "assay: {}\n", Printable(MessageOf(status)));
  return ExitCodeOf(status);
}

int PrintJson(const google::protobuf::Message& message) {
  absl::StatusOr<std::string> json = ToJson(message);
  if (!json.ok()) return Fail(json.status());
  return Print(*json + "\n");
}

int Print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return kOk;
  return Fail(absl::ErrnoToStatus(errno, "cannot write to standard output"));
}

CLI::App* AddSubcommand(CLI::App& app, const std::string& name, const std::string& what, const std::string& examples) {
  CLI::App* sub = app.add_subcommand(name, what);
  sub->fallthrough();
  sub->footer("Examples:\n" + examples);
  return sub;
}

CLI::Validator AboveZero() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        double value = 0;
        return CLI::detail::lexical_cast(text, value) && value > 0 ? "" : "must be a number above 0, not " + text;
      },
      "ABOVE 0");
}

void AddWithoutDegenerate(CLI::App& sub, bool& flag) {
  sub.add_flag("--without-degenerate", flag,
               "Leave out graphs whose outputs are all equal or not finite: agreement on them proves nothing");
}

void AddSynthesizeMetadata(CLI::App& sub, bool& flag) {
  sub.add_flag("--synthesize-metadata", flag,
               "Make up a weight_meta.py that is missing from the shapes in input_tensor_constraints.py");
}

}  // namespace assay::client
