#include "server/routes.h"

#include <set>

#include "assay/v1/admin.pb.h"
#include "assay/v1/evaluations.pb.h"
#include "assay/v1/leaderboard.pb.h"
#include "boost/json.hpp"
#include "gmock/gmock.h"
#include "server/openapi.h"
#include "server/permissions.h"
#include "server/static_files.h"
#include "server/status_codes.h"

namespace assay::server {
namespace {

using testing::HasSubstr;

std::vector<const google::protobuf::MethodDescriptor*> AllMethods() {
  std::vector<const google::protobuf::MethodDescriptor*> out;
  for (const char* name : {"Suites", "Evaluations", "Leaderboard", "Workers", "Admin"}) {
    const auto* service =
        google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(std::string("assay.v1.") + name);
    EXPECT_NE(service, nullptr) << name;
    for (int i = 0; service != nullptr && i < service->method_count(); ++i) out.push_back(service->method(i));
  }
  return out;
}

class RoutesTest : public testing::Test {
 protected:
  void SetUp() override { v1::Token::descriptor(), v1::Curve::descriptor(); }
  Routes routes{AllMethods()};
};

TEST_F(RoutesTest, FindsMethodsByPathAndVerb) {
  const auto match = routes.Find("POST", "/v1/tokens/12:revoke");
  ASSERT_TRUE(match.ok()) << match.status();
  EXPECT_EQ(match->route->method->full_name(), "assay.v1.Admin.RevokeToken");
  EXPECT_EQ(match->fields.at("id"), "12");
  EXPECT_EQ(routes.Find("GET", "/v1/evaluations/7/curve")->route->method->name(), "GetCurve");
  EXPECT_EQ(routes.Find("POST", "/v1/graphs:findMissing")->route->method->name(), "FindMissingGraphs");
  EXPECT_EQ(routes.Find("GET", "/v1/suites/a%2Fb")->fields.at("name"), "a/b");
}

TEST_F(RoutesTest, RefusesTheRest) {
  EXPECT_TRUE(absl::IsNotFound(routes.Find("GET", "/v1/none").status()));
  EXPECT_TRUE(absl::IsNotFound(routes.Find("GET", "/v1/suites/").status()));
  EXPECT_TRUE(absl::IsNotFound(routes.Find("GET", "").status()));
  EXPECT_TRUE(absl::IsNotFound(routes.Find("POST", "/v1/tokens/12:explode").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(routes.Find("GET", "/v1/suites/a%zz").status()));
  const auto status = routes.Find("DELETE", "/v1/suites").status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("not DELETE"));
}

TEST_F(RoutesTest, ReadsTheQuery) {
  v1::ListOutcomesRequest request;
  const auto match = routes.Find("GET", "/v1/evaluations/7/outcomes");
  ASSERT_TRUE(ReadRequest(*match, "page.size=10&page.token=a%20b+c&id=8", "", &request).ok());
  EXPECT_EQ(request.id(), "7");  // the path wins
  EXPECT_EQ(request.page().size(), 10);
  EXPECT_EQ(request.page().token(), "a b c");
  v1::GetCurveRequest curve;
  ASSERT_TRUE(ReadRequest(*routes.Find("GET", "/v1/evaluations/7/curve"),
                          "interpretation=DEFAULT&p=0&tFrom=-1.5&intervals=true", "", &curve)
                  .ok());
  EXPECT_EQ(curve.interpretation(), v1::DEFAULT);
  EXPECT_TRUE(curve.has_p());
  EXPECT_EQ(curve.t_from(), -1.5);
  EXPECT_TRUE(curve.intervals());
}

TEST_F(RoutesTest, SaysWhatIsWrongInARequest) {
  const auto error = [&](const char* verb, const char* path, const char* query, const char* body) {
    const auto match = routes.Find(verb, path);
    EXPECT_TRUE(match.ok());
    std::unique_ptr<google::protobuf::Message> request(
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(match->route->method->input_type())->New());
    const auto status = ReadRequest(*match, query, body, request.get());
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(error("GET", "/v1/evaluations", "page.size=many", ""), HasSubstr("an integer"));
  EXPECT_THAT(error("GET", "/v1/evaluations", "page.size=99999999999", ""), HasSubstr("an integer"));
  EXPECT_THAT(error("GET", "/v1/evaluations", "nothing=1", ""), HasSubstr("accepted: suite, page"));
  EXPECT_THAT(error("GET", "/v1/evaluations", "page=1", ""), HasSubstr("send a body"));
  EXPECT_THAT(error("GET", "/v1/evaluations", "suite=%FF", ""), HasSubstr("UTF-8"));
  EXPECT_THAT(error("GET", "/v1/evaluations", "", "{}"), HasSubstr("takes no body"));
  EXPECT_THAT(error("POST", "/v1/suites", "name=x", ""), HasSubstr("in the body"));
  EXPECT_THAT(error("POST", "/v1/suites", "", "{"), HasSubstr("not a CreateSuiteRequest"));
  EXPECT_THAT(error("POST", "/v1/suites", "", "{\"nothing\": 1}"), HasSubstr("nothing"));
  EXPECT_THAT(error("GET", "/v1/evaluations/7/curve", "intervals=1", ""), HasSubstr("true, false"));
  EXPECT_THAT(error("GET", "/v1/evaluations/7/curve", "interpretation=X", ""), HasSubstr("REPORT"));
}

TEST_F(RoutesTest, EveryMethodHasARouteAPermissionAndADescription) {
  std::set<std::string> known;
  for (const auto& name : MethodsWithPermissions()) known.insert(name);
  const boost::json::value document = boost::json::parse(MakeOpenApi(routes));
  for (const auto* method : AllMethods()) EXPECT_TRUE(known.erase(method->full_name()) == 1) << method->full_name();
  EXPECT_TRUE(known.empty()) << *known.begin();
  EXPECT_EQ(routes.all().size(), AllMethods().size());
  EXPECT_EQ(document.at("paths").at("/v1/evaluations/{id}").at("get").at("operationId"), "Evaluations_GetEvaluation");
  EXPECT_TRUE(document.at("components").at("schemas").as_object().contains("assay.v1.Measurement"));
}

TEST(Permissions, RolesMayDoTheirPartOnly) {
  EXPECT_TRUE(CheckPermission("assay.v1.Workers.Report", v1::WORKER).ok());
  EXPECT_TRUE(CheckPermission("assay.v1.Suites.GetGraph", v1::WORKER).ok());
  EXPECT_FALSE(CheckPermission("assay.v1.Suites.ListSuites", v1::WORKER).ok());
  EXPECT_FALSE(CheckPermission("assay.v1.Workers.Report", v1::SUBMITTER).ok());
  EXPECT_FALSE(CheckPermission("assay.v1.Evaluations.CreateEvaluation", v1::VIEWER).ok());
  EXPECT_FALSE(CheckPermission("assay.v1.Admin.CreateToken", v1::SUBMITTER).ok());
  EXPECT_FALSE(CheckPermission("assay.v1.New.Method", v1::SUBMITTER).ok());
  for (const auto& method : MethodsWithPermissions()) {
    EXPECT_TRUE(CheckPermission(method, v1::ADMIN).ok()) << method;
    EXPECT_FALSE(CheckPermission(method, v1::ROLE_UNSPECIFIED).ok()) << method;
  }
}

TEST(StatusCodes, Http) {
  EXPECT_EQ(HttpCode(absl::StatusCode::kOk), 200);
  EXPECT_EQ(HttpCode(absl::StatusCode::kFailedPrecondition), 400);
  EXPECT_EQ(HttpCode(absl::StatusCode::kUnauthenticated), 401);
  EXPECT_EQ(HttpCode(absl::StatusCode::kUnavailable), 503);
  EXPECT_EQ(HttpCode(absl::StatusCode::kDataLoss), 500);
  EXPECT_THAT(StatusJson(absl::NotFoundError("gone \"x\"")), HasSubstr(R"("message":"gone \"x\"")"));
}

TEST(StaticFiles, NothingOutsideTheFolder) {
  EXPECT_TRUE(absl::IsNotFound(ReadStaticFile("server", "/../README.md").status()));
  EXPECT_TRUE(absl::IsNotFound(ReadStaticFile("server", "/routes.h").status()));  // not a kind of file that a page has
  EXPECT_TRUE(absl::IsNotFound(ReadStaticFile("server", "/%2e%2e/x.html").status()));
  EXPECT_TRUE(absl::IsNotFound(ReadStaticFile("server", "/").status()));
}

}  // namespace
}  // namespace assay::server
