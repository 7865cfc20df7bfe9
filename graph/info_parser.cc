#include "graph/info_parser.h"

#include <algorithm>
#include <boost/json.hpp>
#include <string>

#include "graph/diagnostic.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

constexpr std::string_view kFile = "graph_net.json";
constexpr size_t kLongestText = 1024;

absl::Status Refuse(std::string_view message) {
  return Refusal(absl::StatusCode::kInvalidArgument, kFile, 0, 0, message);
}

absl::Status RefuseAt(std::string_view text, size_t offset, std::string_view message) {
  const std::string_view before = text.substr(0, offset);
  const int line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return Refusal(absl::StatusCode::kInvalidArgument, kFile, line, static_cast<int>(offset - begin) + 1, message);
}

absl::Status ReadText(const boost::json::object& object, const char* key, std::string* out) {
  const boost::json::value* value = object.if_contains(key);
  if (value == nullptr) return absl::OkStatus();
  if (!value->is_string()) return Refuse(Cat("'", key, "' must be a string"));
  if (value->get_string().size() > kLongestText) {
    return Refuse(Cat("'", key, "' is longer than ", kLongestText, " bytes"));
  }
  out->assign(value->get_string().data(), value->get_string().size());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SampleInfo> ParseInfoFile(std::string_view text, const Limits& limits) {
  if (text.size() > limits.info_bytes) {
    return Refusal(absl::StatusCode::kResourceExhausted, kFile, 0, 0,
                   Cat("the file has ", text.size(), " bytes, more than the limit of ", limits.info_bytes));
  }
  boost::json::parse_options options;
  options.max_depth = limits.depth;
  boost::json::stream_parser parser({}, options);
  boost::json::error_code error;
  const size_t read = parser.write_some(text.data(), text.size(), error);
  if (error) return RefuseAt(text, read, Cat("not JSON: ", error.message()));
  const size_t rest = text.find_first_not_of(" \t\r\n", read);
  if (rest != std::string_view::npos) return RefuseAt(text, rest, "expected the end of the file after the JSON value");
  parser.finish(error);
  if (error) return RefuseAt(text, text.size(), "the JSON value is cut off");
  const boost::json::value value = parser.release();
  const boost::json::object* object = value.if_object();
  if (object == nullptr) return Refuse("expected a JSON object such as {\"framework\": \"torch\"}");

  SampleInfo info;
  info.framework.clear();
  for (const auto& [key, out] : {std::pair{"framework", &info.framework},
                                 {"model_name", &info.model_name},
                                 {"source", &info.source},
                                 {"heuristic_tag", &info.heuristic_tag}}) {
    if (absl::Status status = ReadText(*object, key, out); !status.ok()) return status;
  }
  if (info.framework != kTorchFramework && info.framework != kStableHloFramework) {
    return Refuse(Cat("'framework' must be \"torch\" or \"stablehlo\", found ", Quoted(info.framework)));
  }
  for (const char* key : {"num_devices_required", "num_nodes_required"}) {
    const boost::json::value* count = object->if_contains(key);
    if (count == nullptr) continue;
    const int64_t* number = count->if_int64();
    if (number == nullptr || *number != 1) return Refuse(Cat("'", key, "' must be 1: a graph runs on one device"));
  }
  return info;
}

}  // namespace assay::graph
