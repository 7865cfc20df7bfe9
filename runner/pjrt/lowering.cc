#include "runner/pjrt/lowering.h"

#include <string.h>

#include <boost/json.hpp>

#include "graph/graph.h"
#include "graph/sha256.h"
#include "graph/text.h"
#include "runner/pjrt/filter_process.h"
#include "runner/pjrt/status.h"

namespace assay::pjrt {
namespace {

using graph::Cat;
using graph::DType;
namespace json = boost::json;

constexpr size_t kMaxReplyBytes = size_t{1} << 30;

template <typename T>
T Read(std::span<const std::byte> bytes) {
  T value;
  memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// The only element of a tensor, where JSON can say it exactly.
json::value ElementOf(DType dtype, std::span<const std::byte> bytes) {
  if (bytes.size() != static_cast<size_t>(graph::ElementSize(dtype))) return nullptr;
  switch (dtype) {
    case DType::kBool:
      return Read<uint8_t>(bytes) != 0;
    case DType::kUInt8:
      return int64_t{Read<uint8_t>(bytes)};
    case DType::kInt8:
      return int64_t{Read<int8_t>(bytes)};
    case DType::kInt16:
      return int64_t{Read<int16_t>(bytes)};
    case DType::kInt32:
      return int64_t{Read<int32_t>(bytes)};
    case DType::kInt64:
      return Read<int64_t>(bytes);
    case DType::kFloat32:
      return double{Read<float>(bytes)};
    case DType::kFloat64:
      return Read<double>(bytes);
    default:
      return nullptr;
  }
}

absl::StatusOr<std::vector<int>> Indices(const json::object& reply, const char* name, size_t count) {
  const json::value* list = reply.if_contains(name);
  if (list == nullptr || !list->is_array()) {
    return absl::InternalError(Cat("the lowering's reply has no list \"", name, "\""));
  }
  std::vector<int> indices;
  for (const json::value& one : list->get_array()) {
    if (!one.is_int64() || one.get_int64() < 0 || static_cast<size_t>(one.get_int64()) >= count) {
      return absl::InternalError(Cat("the lowering's reply names a parameter that there is not, in \"", name, "\""));
    }
    indices.push_back(static_cast<int>(one.get_int64()));
  }
  return indices;
}

std::string RequestOf(std::string_view model, const std::vector<LoweringParameter>& parameters,
                      std::string_view platform) {
  json::array list;
  for (const LoweringParameter& parameter : parameters) {
    json::object one{{"name", parameter.spec.name}, {"dtype", graph::Name(parameter.spec.dtype)}};
    json::array& shape = one["shape"].emplace_array();
    for (const int64_t size : parameter.spec.shape) shape.emplace_back(size);
    if (parameter.spec.shape.empty()) {
      json::value value = ElementOf(parameter.spec.dtype, parameter.bytes);
      if (!value.is_null()) one["value"] = std::move(value);
    }
    if (parameter.number) one["number"] = true;
    list.push_back(std::move(one));
  }
  return json::serialize(json::object{{"model", model}, {"parameters", std::move(list)}, {"platform", platform}});
}

}  // namespace

absl::StatusOr<Lowered> ParseLowered(std::string_view text, size_t parameter_count) {
  boost::system::error_code error;
  const json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error || !value.is_object()) return absl::InternalError("the lowering's reply is not a JSON object");
  const json::object& reply = value.get_object();
  if (const json::value* failure = reply.if_contains("error")) {
    const json::object* object = failure->if_object();
    const json::value* message = object == nullptr ? nullptr : object->if_contains("message");
    if (message == nullptr || !message->is_string()) return absl::InternalError("the lowering's error has no message");
    return absl::InvalidArgumentError(message->get_string().c_str());
  }
  const json::value* stablehlo = reply.if_contains("stablehlo");
  if (stablehlo == nullptr || !stablehlo->is_string())
    return absl::InternalError("the lowering's reply has no StableHLO");
  Lowered lowered;
  lowered.stablehlo = std::string_view(stablehlo->get_string());
  absl::StatusOr<std::vector<int>> arguments = Indices(reply, "arguments", parameter_count);
  if (!arguments.ok()) return arguments.status();
  lowered.arguments = *std::move(arguments);
  absl::StatusOr<std::vector<int>> constants = Indices(reply, "constants", parameter_count);
  if (!constants.ok()) return constants.status();
  lowered.constants = *std::move(constants);
  return lowered;
}

absl::StatusOr<std::string> Lowering::Version() {
  if (!version_) {
    std::vector<std::string> command = command_;
    command.push_back("--version");
    absl::StatusOr<std::string> version = RunFilter(command, "", 4096);
    if (!version.ok()) return Annotated(version.status(), "asking the lowering for its version");
    version_ = *std::move(version);
    while (version_->ends_with('\n')) version_->pop_back();
  }
  return *version_;
}

absl::StatusOr<Lowered> Lowering::Lower(std::string_view model, const std::vector<LoweringParameter>& parameters,
                                        std::string_view platform, std::string_view kept, std::string* keep) {
  if (command_.empty()) {
    return absl::FailedPreconditionError(
        "this runner has no lowering: start it with --lowering, for example `--lowering .venv-xla/bin/python -m "
        "assay_lowering`");
  }
  absl::StatusOr<std::string> version = Version();
  if (!version.ok()) return version.status();
  const std::string request = RequestOf(model, parameters, platform);
  const std::string key = Cat(graph::Sha256Hex(Cat(*version, "\n", request)), "\n");
  if (kept.starts_with(key)) {
    absl::StatusOr<Lowered> lowered = ParseLowered(kept.substr(key.size()), parameters.size());
    if (lowered.ok()) lowered->cached = true;
    if (!absl::IsInternal(lowered.status())) return lowered;
  }
  absl::StatusOr<std::string> reply = RunFilter(command_, request, kMaxReplyBytes);
  if (!reply.ok()) return Annotated(reply.status(), "lowering to StableHLO");
  absl::StatusOr<Lowered> lowered = ParseLowered(*reply, parameters.size());
  if (keep != nullptr && !absl::IsInternal(lowered.status())) *keep = key + *reply;
  return lowered;
}

absl::StatusOr<std::string> Lowering::HloText(std::string_view module) const {
  std::vector<std::string> command = command_;
  command.push_back("--hlo-text");
  return RunFilter(command, module, kMaxReplyBytes);
}

}  // namespace assay::pjrt
