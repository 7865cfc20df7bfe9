// HTTP routes, derived at run time from the google.api.http options of the API's methods, and the JSON forms of
// requests and answers.
//
// A template is made of literal segments and fields in braces, with a verb behind a colon at the end:
// "/v1/tokens/{id}:revoke". A field in braces takes one segment. With body "*" the body is the request; else its fields
// come from the query
// (`?page.size=10&graphs=a&graphs=b`, names as in the .proto or in lowerCamelCase). Fields of the path win.
// Thread safety: Routes is immutable once made.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace assay::server {

struct Route {
  const google::protobuf::MethodDescriptor* method = nullptr;
  std::string verb;                   // "GET", "POST", …
  std::string path;                   // as written
  std::vector<std::string> segments;  // "{field}" or a literal
  std::string suffix;                 // what follows the colon; may be empty
  bool body = false;                  // "*"
};

struct Match {
  const Route* route = nullptr;
  std::map<std::string, std::string> fields;  // percent-decoded
};

class Routes {
 public:
  // A method without the option, or with a form that is not supported, is an error of the program: it throws.
  explicit Routes(const std::vector<const google::protobuf::MethodDescriptor*>& methods);

  // NotFound: no such path. Unimplemented: the path is there, with other verbs, which the message lists. `target` is
  // the request's path without the query.
  absl::StatusOr<Match> Find(std::string_view verb, std::string_view path) const;

  const std::vector<Route>& all() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

// Percent-decoding; '+' means a space where `form`. InvalidArgument: a bad escape.
absl::StatusOr<std::string> PercentDecode(std::string_view text, bool form);

// Fills `request` from the three parts of a call. InvalidArgument says which part is wrong.
absl::Status ReadRequest(const Match& match, std::string_view query, std::string_view body,
                         google::protobuf::Message* request);

// lowerCamelCase, with fields that have their default value.
std::string WriteJson(const google::protobuf::Message& message);

}  // namespace assay::server
