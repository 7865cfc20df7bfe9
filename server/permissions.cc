#include "server/permissions.h"

#include <map>
#include <set>

#include "server/names.h"
#include "server/text.h"

namespace assay::server {

namespace {

const std::map<std::string, std::set<v1::Role>>& Table() {
  static const std::set<v1::Role> kRead = {v1::VIEWER, v1::SUBMITTER, v1::ADMIN};
  static const std::set<v1::Role> kReadOrWork = {v1::VIEWER, v1::SUBMITTER, v1::WORKER, v1::ADMIN};
  static const std::set<v1::Role> kSubmit = {v1::SUBMITTER, v1::ADMIN};
  static const std::set<v1::Role> kWork = {v1::WORKER, v1::ADMIN};
  static const std::set<v1::Role> kAdmin = {v1::ADMIN};
  static const std::map<std::string, std::set<v1::Role>> kTable = {
      {"assay.v1.Suites.FindMissingGraphs", kSubmit},
      {"assay.v1.Suites.UploadGraphs", kSubmit},
      {"assay.v1.Suites.GetGraph", kReadOrWork},
      {"assay.v1.Suites.CreateSuite", kSubmit},
      {"assay.v1.Suites.ListSuites", kRead},
      {"assay.v1.Suites.GetSuite", kRead},
      {"assay.v1.Suites.CreateSubset", kSubmit},
      {"assay.v1.Evaluations.CreateEvaluation", kSubmit},
      {"assay.v1.Evaluations.ImportEvaluation", kSubmit},
      {"assay.v1.Evaluations.GetEvaluation", kRead},
      {"assay.v1.Evaluations.ListEvaluations", kRead},
      {"assay.v1.Evaluations.CancelEvaluation", kSubmit},
      {"assay.v1.Evaluations.ListOutcomes", kRead},
      {"assay.v1.Evaluations.ListMeasurements", kRead},
      {"assay.v1.Leaderboard.GetLeaderboard", kRead},
      {"assay.v1.Leaderboard.GetCurve", kRead},
      {"assay.v1.Workers.Synchronise", kWork},
      {"assay.v1.Workers.Report", kWork},
      {"assay.v1.Workers.GetLowering", kWork},
      {"assay.v1.Workers.PutLowering", kWork},
      {"assay.v1.Workers.ListWorkers", kRead},
      {"assay.v1.Workers.ListTargets", kRead},
      {"assay.v1.Admin.CreateToken", kAdmin},
      {"assay.v1.Admin.ListTokens", kAdmin},
      {"assay.v1.Admin.RevokeToken", kAdmin},
      {"assay.v1.Admin.DrainWorker", kAdmin},
      {"assay.v1.Admin.RecordCalibration", kAdmin},
  };
  return kTable;
}

}  // namespace

absl::Status CheckPermission(const std::string& method, v1::Role role) {
  const auto it = Table().find(method);
  const std::set<v1::Role> needed = it == Table().end() ? std::set<v1::Role>{v1::ADMIN} : it->second;
  if (needed.contains(role)) return absl::OkStatus();
  std::vector<std::string> names;
  for (const v1::Role one : needed) names.push_back(RoleName(one));
  return absl::PermissionDeniedError(Cat(method, " needs a token with the role ", Join(names, " or "),
                                         "; this one's is ",
                                         role == v1::ROLE_UNSPECIFIED ? "unknown" : RoleName(role)));
}

std::vector<std::string> MethodsWithPermissions() {
  std::vector<std::string> out;
  for (const auto& [method, roles] : Table()) out.push_back(method);
  return out;
}

}  // namespace assay::server
