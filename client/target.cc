#include "client/target.h"

#include <algorithm>
#include <cmath>

#include "client/text.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

bool IsName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

// "cpu", "cuda", or one that is not there: "tpu:v5e".
bool IsDeviceKind(std::string_view text) {
  const size_t colon = text.find(':');
  return IsName(text.substr(0, colon)) && (colon == std::string_view::npos || IsName(text.substr(colon + 1)));
}

absl::Status BadTarget(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(
      fmt::format("target '{}': {}; a target is written COMPILER[@env:ENVIRONMENT][@DEVICE], for example inductor, "
                  "inductor@env:nightly, torchscript@cuda or xla@tpu:v5e",
                  Shortened(text), Shortened(why)));
}

std::string OptionText(const google::protobuf::Value& value) {
  switch (value.kind_case()) {
    case google::protobuf::Value::kBoolValue:
      return value.bool_value() ? "true" : "false";
    case google::protobuf::Value::kNumberValue:
      return fmt::format("{}", value.number_value());
    case google::protobuf::Value::kStringValue:
      return value.string_value();
    default:
      return value.ShortDebugString();
  }
}

}  // namespace

absl::StatusOr<v1::Target> ParseTarget(std::string_view text) {
  const std::vector<std::string> parts = Split(text, '@');
  v1::Target target;
  if (!IsName(parts[0])) return BadTarget(text, fmt::format("'{}' is no compiler's name", parts[0]));
  target.set_compiler(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    if (part.starts_with("env:")) {
      part.remove_prefix(4);
      if (!IsName(part)) return BadTarget(text, fmt::format("'{}' is no environment's name", part));
      if (!target.environment().empty()) return BadTarget(text, "it names two environments");
      target.set_environment(std::string(part));
    } else {
      if (!IsDeviceKind(part)) return BadTarget(text, fmt::format("'{}' is no kind of device", part));
      if (!target.device_kind().empty()) return BadTarget(text, "it names two kinds of device");
      target.set_device_kind(std::string(part));
    }
  }
  return target;
}

std::string TargetText(const v1::Target& target) {
  std::string text = target.compiler();
  if (!target.environment().empty() && target.environment() != "default") {
    text += "@env:" + target.environment();
  }
  if (!target.device_kind().empty() && target.device_kind() != "cpu") text += "@" + target.device_kind();
  if (target.options().fields().empty()) return text;
  std::vector<std::string> options;
  for (const auto& [name, value] : target.options().fields()) {
    options.push_back(name + "=" + OptionText(value));
  }
  std::sort(options.begin(), options.end());
  return fmt::format("{}{{{}}}", text, fmt::join(options, ","));
}

std::string FullTarget(const v1::Target& target) {
  return fmt::format("{} {} ({}, environment {}) on {}", TargetText(target), target.version(), target.runner(),
                     target.environment_hash().substr(0, 12), target.device_kind());
}

absl::StatusOr<SuiteName> ParseSuite(std::string_view text) {
  SuiteName suite;
  const std::vector<std::string> parts = Split(text, '@');
  suite.name = parts[0];
  bool good = IsName(parts[0]) && parts.size() <= 2;
  if (good && parts.size() == 2) {
    suite.version = ParseNumber<int>(parts[1]).value_or(0);
    good = suite.version > 0;
  }
  if (!good) {
    return absl::InvalidArgumentError(fmt::format(
        "suite '{}': a suite is written NAME or NAME@VERSION, for example graphnet-torch@3", Shortened(text)));
  }
  return suite;
}

absl::Status AddOption(std::string_view text, v1::Target& target) {
  const size_t equals = text.find('=');
  const std::string name(text.substr(0, equals));
  if (!IsName(name) || equals == std::string_view::npos) {
    return absl::InvalidArgumentError(
        fmt::format("option '{}': an option is written NAME=VALUE, for example mode=max-autotune", Shortened(text)));
  }
  std::string_view value_text = text.substr(equals + 1);
  google::protobuf::Value value;
  if (value_text == "true" || value_text == "false") {
    value.set_bool_value(value_text == "true");
  } else if (const auto number = ParseNumber<double>(value_text); number.has_value() && std::isfinite(*number)) {
    value.set_number_value(*number);
  } else {
    if (value_text.size() >= 2 && value_text.front() == '"' && value_text.back() == '"') {
      value_text = value_text.substr(1, value_text.size() - 2);
    }
    value.set_string_value(std::string(value_text));
  }
  auto& fields = *target.mutable_options()->mutable_fields();
  if (!fields.insert({name, value}).second) {
    return absl::InvalidArgumentError(fmt::format("option '{}' is given twice", name));
  }
  return absl::OkStatus();
}

}  // namespace assay::client
