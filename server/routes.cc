#include "server/routes.h"

#include <stdexcept>

#include "google/api/annotations.pb.h"
#include "google/protobuf/util/json_util.h"
#include "server/database.h"
#include "server/text.h"

namespace assay::server {

namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool IsField(std::string_view segment) { return segment.starts_with('{') && segment.ends_with('}'); }

// Sets one field from text; repeated ones get one more value.
absl::Status SetScalar(Message* message, const FieldDescriptor* field, const std::string& name,
                       const std::string& text) {
  const auto wrong = [&](std::string_view wanted) {
    return absl::InvalidArgumentError(Cat(name, " is '", text, "'; accepted: ", wanted));
  };
  const Reflection* reflection = message->GetReflection();
  const bool add = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      if (field->type() == FieldDescriptor::TYPE_BYTES) return wrong("nothing: bytes cannot be given in a query");
      if (CleanText(text) != text) return absl::InvalidArgumentError(Cat(name, " is not UTF-8 text without NUL"));
      add ? reflection->AddString(message, field, text) : reflection->SetString(message, field, text);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_BOOL:
      if (text != "true" && text != "false") return wrong("true, false");
      add ? reflection->AddBool(message, field, text == "true") : reflection->SetBool(message, field, text == "true");
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64: {
      const auto number = ParseInt(text);
      const bool small = field->cpp_type() == FieldDescriptor::CPPTYPE_INT32;
      if (!number || (small && *number != static_cast<int32_t>(*number))) return wrong("an integer");
      if (small) {
        const auto value = static_cast<int32_t>(*number);
        add ? reflection->AddInt32(message, field, value) : reflection->SetInt32(message, field, value);
      } else {
        add ? reflection->AddInt64(message, field, *number) : reflection->SetInt64(message, field, *number);
      }
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      double number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size()) return wrong("a number");
      add ? reflection->AddDouble(message, field, number) : reflection->SetDouble(message, field, number);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const EnumValueDescriptor* value = field->enum_type()->FindValueByName(text);
      if (value == nullptr) {
        std::vector<std::string> names;
        for (int i = 0; i < field->enum_type()->value_count(); ++i)
          names.push_back(field->enum_type()->value(i)->name());
        return wrong(Join(names, ", "));
      }
      add ? reflection->AddEnum(message, field, value) : reflection->SetEnum(message, field, value);
      return absl::OkStatus();
    }
    default:
      return absl::InvalidArgumentError(Cat("'", name, "' is not a field that a path or query can give: send a body"));
  }
}

absl::Status SetPath(Message* message, const std::string& name, const std::string& text) {
  const auto parts = Split(name, '.');
  for (size_t i = 0; i < parts.size(); ++i) {
    const Descriptor* type = message->GetDescriptor();
    const FieldDescriptor* field = type->FindFieldByName(std::string(parts[i]));
    if (field == nullptr) field = type->FindFieldByCamelcaseName(std::string(parts[i]));
    if (field == nullptr ||
        (i + 1 < parts.size() && (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_repeated()))) {
      std::vector<std::string> names;
      for (int k = 0; k < type->field_count(); ++k) names.push_back(type->field(k)->name());
      return absl::InvalidArgumentError(
          Cat("there is no parameter '", name, "'; accepted: ", names.empty() ? "none" : Join(names, ", ")));
    }
    if (i + 1 == parts.size()) return SetScalar(message, field, name, text);
    message = message->GetReflection()->MutableMessage(message, field);
  }
  return absl::OkStatus();
}

Route RouteOf(const google::protobuf::MethodDescriptor* method) {
  const google::api::HttpRule& rule = method->options().GetExtension(google::api::http);
  Route route;
  route.method = method;
  switch (rule.pattern_case()) {
    case google::api::HttpRule::kGet:
      route.verb = "GET";
      route.path = rule.get();
      break;
    case google::api::HttpRule::kPost:
      route.verb = "POST";
      route.path = rule.post();
      break;
    case google::api::HttpRule::kPut:
      route.verb = "PUT";
      route.path = rule.put();
      break;
    case google::api::HttpRule::kDelete:
      route.verb = "DELETE";
      route.path = rule.delete_();
      break;
    case google::api::HttpRule::kPatch:
      route.verb = "PATCH";
      route.path = rule.patch();
      break;
    default:
      throw std::logic_error(method->full_name() + " has no google.api.http route");
  }
  if (!rule.body().empty() && rule.body() != "*")
    throw std::logic_error(method->full_name() + ": the body must be \"*\"");
  route.body = rule.body() == "*";
  std::string_view path = route.path;
  if (const size_t colon = path.rfind(':');
      colon != std::string_view::npos && path.find('/', colon) == std::string_view::npos) {
    route.suffix = path.substr(colon + 1);
    path = path.substr(0, colon);
  }
  for (const auto segment : Split(path.substr(1), '/')) {
    if (IsField(segment)) {
      const auto* field = method->input_type()->FindFieldByName(std::string(segment.substr(1, segment.size() - 2)));
      if (field == nullptr) throw std::logic_error(Cat(method->full_name(), ": the request has no field ", segment));
    } else if (segment.find_first_of("{}*") != std::string_view::npos) {
      throw std::logic_error(Cat(method->full_name(), ": the path segment ", segment, " is not supported"));
    }
    route.segments.emplace_back(segment);
  }
  return route;
}

}  // namespace

Routes::Routes(const std::vector<const google::protobuf::MethodDescriptor*>& methods) {
  for (const auto* method : methods) routes_.push_back(RouteOf(method));
}

absl::StatusOr<Match> Routes::Find(std::string_view verb, std::string_view path) const {
  const auto not_found = absl::NotFoundError(Cat("there is no ", path, ": /openapi.json lists the paths"));
  if (!path.starts_with('/')) return not_found;
  const auto parts = Split(path.substr(1), '/');
  std::vector<std::string> verbs;
  for (const Route& route : routes_) {
    if (route.segments.size() != parts.size()) continue;
    Match match{&route, {}};
    bool good = true;
    for (size_t i = 0; good && i < parts.size(); ++i) {
      std::string_view part = parts[i];
      if (i + 1 == parts.size() && !route.suffix.empty()) {
        const std::string end = ":" + route.suffix;
        good = part.ends_with(end);
        if (!good) break;
        part.remove_suffix(end.size());
      }
      if (IsField(route.segments[i])) {
        // A colon in the last segment would be another route's verb; in an id it is written %3A.
        if (part.empty() || (i + 1 == parts.size() && part.find(':') != std::string_view::npos)) {
          good = false;
          break;
        }
        const auto text = PercentDecode(part, false);
        if (!text.ok()) return text.status();
        match.fields[route.segments[i].substr(1, route.segments[i].size() - 2)] = *text;
      } else {
        good = part == route.segments[i];
      }
    }
    if (!good) continue;
    if (route.verb == verb) return match;
    verbs.push_back(route.verb);
  }
  if (verbs.empty()) return not_found;
  return absl::UnimplementedError(Cat(path, " takes ", Join(verbs, ", "), ", not ", verb));
}

absl::StatusOr<std::string> PercentDecode(std::string_view text, bool form) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      int value = 0;
      if (i + 2 >= text.size() ||
          std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr != text.data() + i + 3) {
        return absl::InvalidArgumentError(Cat("'", text, "' has a '%' that two hex digits do not follow"));
      }
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += form && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

absl::Status ReadRequest(const Match& match, std::string_view query, std::string_view body, Message* request) {
  if (match.route->body) {
    if (!body.empty()) {
      const auto status =
          google::protobuf::util::JsonStringToMessage(google::protobuf::StringPiece(body.data(), body.size()), request);
      if (!status.ok())
        return absl::InvalidArgumentError(
            Cat("the body is not a ", request->GetDescriptor()->name(), ": ", std::string(status.message())));
    }
    if (!query.empty()) return absl::InvalidArgumentError("this path takes its fields in the body, not in the query");
  } else {
    if (!body.empty()) return absl::InvalidArgumentError("this path takes no body");
    for (const auto pair : query.empty() ? std::vector<std::string_view>{} : Split(query, '&')) {
      const size_t equal = pair.find('=');
      const auto name = PercentDecode(pair.substr(0, equal), true);
      if (!name.ok()) return name.status();
      const auto value = PercentDecode(equal == std::string_view::npos ? "" : pair.substr(equal + 1), true);
      if (!value.ok()) return value.status();
      if (const absl::Status status = SetPath(request, *name, *value); !status.ok()) return status;
    }
  }
  for (const auto& [name, value] : match.fields) {
    if (const absl::Status status = SetPath(request, name, value); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::string WriteJson(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  std::string out;
  const auto status = google::protobuf::util::MessageToJsonString(message, &out, options);
  if (!status.ok())
    throw std::runtime_error(
        Cat("a ", message.GetDescriptor()->name(), " has no JSON form: ", std::string(status.message())));
  return out;
}

}  // namespace assay::server
