#include "server/openapi.h"

#include <set>

#include "boost/json.hpp"
#include "server/text.h"

namespace assay::server {

namespace {

namespace json = boost::json;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

class Document {
 public:
  explicit Document(const Routes& routes) : routes_(routes) {}

  std::string Make() {
    json::object paths;
    for (const Route& route : routes_.all()) {
      std::string verb = route.verb;
      for (char& c : verb) c = static_cast<char>(tolower(c));
      json::object& item =
          paths[route.path].is_object() ? paths[route.path].as_object() : paths[route.path].emplace_object();
      item[verb] = Operation(route);
    }
    json::object document;
    document["openapi"] = "3.0.3";
    document["info"] = {{"title", "Assay"}, {"version", "v1"}};
    document["paths"] = std::move(paths);
    schemas_["google.rpc.Status"] = {{"type", "object"},
                                     {"properties",
                                      {{"code", {{"type", "integer"}}},
                                       {"message", {{"type", "string"}}},
                                       {"details", {{"type", "array"}, {"items", json::object()}}}}}};
    document["components"] = {{"schemas", schemas_},
                              {"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}};
    document["security"] = json::array{json::object{{"token", json::array()}}};
    return json::serialize(document);
  }

 private:
  json::object Operation(const Route& route) {
    json::object operation;
    operation["operationId"] = Cat(route.method->service()->name(), "_", route.method->name());
    operation["tags"] = json::array{route.method->service()->name()};
    json::array parameters;
    std::set<std::string> in_path;
    for (const auto& segment : route.segments) {
      if (!segment.starts_with('{')) continue;
      const std::string name = segment.substr(1, segment.size() - 2);
      in_path.insert(name);
      parameters.push_back({{"name", name}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}});
    }
    if (route.body) {
      operation["requestBody"] = {
          {"required", true}, {"content", {{"application/json", {{"schema", Reference(route.method->input_type())}}}}}};
    } else {
      AddQuery(route.method->input_type(), "", in_path, parameters);
    }
    if (!parameters.empty()) operation["parameters"] = std::move(parameters);
    operation["responses"] = {
        {"200",
         {{"description", "OK"},
          {"content", {{"application/json", {{"schema", Reference(route.method->output_type())}}}}}}},
        {"default",
         {{"description", "google.rpc.Status"},
          {"content", {{"application/json", {{"schema", {{"$ref", "#/components/schemas/google.rpc.Status"}}}}}}}}}};
    return operation;
  }

  void AddQuery(const Descriptor* type, const std::string& prefix, const std::set<std::string>& but, json::array& out) {
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor* field = type->field(i);
      if (prefix.empty() && but.contains(field->name())) continue;
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        if (!field->is_repeated()) AddQuery(field->message_type(), Cat(prefix, field->json_name(), "."), but, out);
        continue;
      }
      out.push_back({{"name", Cat(prefix, field->json_name())}, {"in", "query"}, {"schema", Field(field)}});
    }
  }

  json::value Reference(const Descriptor* type) {
    const std::string& name = type->full_name();
    if (name == "google.protobuf.Struct") return json::object{{"type", "object"}, {"additionalProperties", true}};
    if (name == "google.protobuf.Timestamp") return json::object{{"type", "string"}, {"format", "date-time"}};
    if (!schemas_.contains(name)) {
      schemas_[name] = json::object();  // before its fields: a message may hold itself
      json::object properties;
      for (int i = 0; i < type->field_count(); ++i) properties[type->field(i)->json_name()] = Field(type->field(i));
      schemas_[name] = {{"type", "object"}, {"properties", std::move(properties)}};
    }
    return json::object{{"$ref", "#/components/schemas/" + name}};
  }

  json::value Field(const FieldDescriptor* field) {
    if (field->is_map())
      return json::object{{"type", "object"}, {"additionalProperties", One(field->message_type()->map_value())}};
    if (field->is_repeated()) return json::object{{"type", "array"}, {"items", One(field)}};
    return One(field);
  }

  json::value One(const FieldDescriptor* field) {
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL:
        return json::object{{"type", "boolean"}};
      case FieldDescriptor::CPPTYPE_INT32:
        return json::object{{"type", "integer"}, {"format", "int32"}};
      case FieldDescriptor::CPPTYPE_INT64:
        return json::object{{"type", "string"}, {"format", "int64"}};  // as proto3's JSON writes it
      case FieldDescriptor::CPPTYPE_DOUBLE:
        // Infinities and NaN are written as strings.
        return json::object{
            {"oneOf", json::array{json::object{{"type", "number"}},
                                  json::object{{"type", "string"}, {"enum", {"Infinity", "-Infinity", "NaN"}}}}}};
      case FieldDescriptor::CPPTYPE_ENUM: {
        json::array values;
        for (int i = 0; i < field->enum_type()->value_count(); ++i)
          values.push_back(json::string(field->enum_type()->value(i)->name()));
        return json::object{{"type", "string"}, {"enum", std::move(values)}};
      }
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Reference(field->message_type());
      default:
        if (field->type() == FieldDescriptor::TYPE_BYTES) return json::object{{"type", "string"}, {"format", "byte"}};
        return json::object{{"type", "string"}};
    }
  }

  const Routes& routes_;
  json::object schemas_;
};

}  // namespace

std::string MakeOpenApi(const Routes& routes) { return Document(routes).Make(); }

}  // namespace assay::server
