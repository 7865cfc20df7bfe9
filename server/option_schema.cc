#include "server/option_schema.h"

#include <cmath>
#include <map>
#include <vector>

#include "boost/json.hpp"
#include "server/text.h"

namespace assay::server {

namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

const Value* Find(const Struct& object, const std::string& key) {
  const auto it = object.fields().find(key);
  return it == object.fields().end() ? nullptr : &it->second;
}

void AppendJson(const Value& value, std::string& out) {
  switch (value.kind_case()) {
    case Value::kBoolValue:
      out += value.bool_value() ? "true" : "false";
      return;
    case Value::kNumberValue: {
      const double number = value.number_value();
      if (number == std::trunc(number) && std::abs(number) < 9e15) {
        out += Cat(static_cast<int64_t>(number));
      } else {
        char text[32];
        snprintf(text, sizeof(text), "%.17g", number);
        out += text;
      }
      return;
    }
    case Value::kStringValue:
      out += boost::json::serialize(boost::json::value(value.string_value()));
      return;
    case Value::kStructValue:
      out += CanonicalJson(value.struct_value());
      return;
    case Value::kListValue: {
      out += '[';
      const char* separator = "";
      for (const auto& item : value.list_value().values()) {
        out += separator;
        separator = ",";
        AppendJson(item, out);
      }
      out += ']';
      return;
    }
    default:
      out += "null";
  }
}

std::string Json(const Value& value) {
  std::string out;
  AppendJson(value, out);
  return out;
}

absl::Status ValidateProperty(const std::string& name, const Value& value) {
  const auto wrong = [&](std::string_view what) {
    return absl::InvalidArgumentError(Cat("option schema: property '", name, "': ", what));
  };
  if (!value.has_struct_value()) return wrong("is not an object");
  const Struct& property = value.struct_value();
  for (const auto& [key, unused] : property.fields()) {
    if (key != "type" && key != "enum" && key != "minimum" && key != "maximum" && key != "default" &&
        key != "description" && key != "title") {
      return wrong(Cat("'", key, "' is not in the accepted subset"));
    }
  }
  const Value* type = Find(property, "type");
  const Value* choices = Find(property, "enum");
  if (choices != nullptr) {
    if (!choices->has_list_value() || choices->list_value().values().empty())
      return wrong("'enum' is not a list of values");
    for (const auto& choice : choices->list_value().values()) {
      if (!choice.has_bool_value() && !choice.has_number_value() && !choice.has_string_value()) {
        return wrong("'enum' may hold strings, numbers and booleans only");
      }
    }
  }
  if (type == nullptr) return choices != nullptr ? absl::OkStatus() : wrong("has neither 'type' nor 'enum'");
  const std::string& name_of_type = type->string_value();
  if (name_of_type == "boolean") return absl::OkStatus();
  if (name_of_type == "string") {
    return choices != nullptr ? absl::OkStatus() : wrong("a string needs an 'enum': free text is not an option");
  }
  if (name_of_type == "integer" || name_of_type == "number") {
    if (choices != nullptr) return absl::OkStatus();
    for (const char* bound : {"minimum", "maximum"}) {
      const Value* limit = Find(property, bound);
      if (limit == nullptr || !limit->has_number_value()) return wrong(Cat("a number needs a '", bound, "'"));
    }
    return absl::OkStatus();
  }
  return wrong("'type' must be boolean, integer, number or string");
}

absl::Status CheckOne(const std::string& name, const Struct& property, const Value& value) {
  const auto wrong = [&](std::string_view accepted) {
    return absl::InvalidArgumentError(Cat("option '", name, "' is ", Json(value), "; accepted: ", accepted));
  };
  if (const Value* choices = Find(property, "enum")) {
    std::vector<std::string> accepted;
    for (const auto& choice : choices->list_value().values()) {
      if (choice.kind_case() == value.kind_case() && Json(choice) == Json(value)) return absl::OkStatus();
      accepted.push_back(Json(choice));
    }
    return wrong(Join(accepted, ", "));
  }
  const std::string& type = Find(property, "type")->string_value();
  if (type == "boolean") return value.has_bool_value() ? absl::OkStatus() : wrong("true, false");
  const double minimum = Find(property, "minimum")->number_value();
  const double maximum = Find(property, "maximum")->number_value();
  const double number = value.number_value();
  const bool good = value.has_number_value() && number >= minimum && number <= maximum &&
                    (type == "number" || number == std::trunc(number));
  return good ? absl::OkStatus()
              : wrong(Cat("a", type == "integer" ? "n integer" : " number", " from ", minimum, " to ", maximum));
}

}  // namespace

absl::Status ValidateSchema(const Struct& schema) {
  if (schema.fields().empty()) return absl::OkStatus();
  for (const auto& [key, value] : schema.fields()) {
    const bool good = (key == "type" && value.string_value() == "object") ||
                      (key == "additionalProperties" && value.has_bool_value() && !value.bool_value()) ||
                      (key == "properties" && value.has_struct_value()) || key == "description" || key == "title" ||
                      key == "$schema";
    if (!good) {
      return absl::InvalidArgumentError(
          Cat("option schema: '", key,
              "' is not as accepted: \"type\": \"object\", \"additionalProperties\": false, "
              "\"properties\": {...}"));
    }
  }
  if (Find(schema, "additionalProperties") == nullptr) {
    return absl::InvalidArgumentError("option schema: is not closed: it needs \"additionalProperties\": false");
  }
  if (const Value* properties = Find(schema, "properties")) {
    for (const auto& [name, property] : properties->struct_value().fields()) {
      if (const absl::Status status = ValidateProperty(name, property); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const Struct& schema, const Struct& options) {
  if (options.fields().empty()) return absl::OkStatus();
  if (const absl::Status status = ValidateSchema(schema); !status.ok()) {
    return absl::FailedPreconditionError(status.message());
  }
  const Value* properties = Find(schema, "properties");
  std::map<std::string, const Value*> sorted;
  for (const auto& [name, value] : options.fields()) sorted[name] = &value;
  for (const auto& [name, value] : sorted) {
    const Value* property = properties == nullptr ? nullptr : Find(properties->struct_value(), name);
    if (property == nullptr) {
      std::vector<std::string> known;
      if (properties != nullptr) {
        for (const auto& [key, unused] : properties->struct_value().fields()) known.push_back(key);
      }
      std::sort(known.begin(), known.end());
      return absl::InvalidArgumentError(
          Cat("option '", name, "' is not known; accepted: ", known.empty() ? "none" : Join(known, ", ")));
    }
    if (const absl::Status status = CheckOne(name, property->struct_value(), *value); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::string CanonicalJson(const Struct& options) {
  std::map<std::string, const Value*> sorted;
  for (const auto& [name, value] : options.fields()) sorted[name] = &value;
  std::string out = "{";
  for (const auto& [name, value] : sorted) {
    if (out.size() > 1) out += ',';
    out += boost::json::serialize(boost::json::value(name)) + ":";
    AppendJson(*value, out);
  }
  return out + "}";
}

}  // namespace assay::server
