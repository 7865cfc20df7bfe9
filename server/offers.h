// What workers can run: each compiler of each runner, and how a target that a user names is found among them.
//
// An offer is one compiler of one build of a runner in one runner environment; a requirement is what a trial needs of
// the worker that runs it: a device kind and the offers of both arms. Both are written as JSON arrays of strings, which
// are compared whole. Thread safety: pure functions on values.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "assay/v1/common.pb.h"
#include "assay/v1/workers.pb.h"

namespace assay::server {

struct Offer {
  std::string compiler, version, runner, build, environment, environment_hash, device_kind;
  std::string baseline;  // compiler of the same runner, or RUNNER/COMPILER
  google::protobuf::Struct options_schema;
  bool trusted = false;
  bool compiles_only = false;
  int live_workers = 0;  // that have it now
  int workers = 0;       // that were ever seen with it

  std::string text() const;  // what the worker must have, without the device kind
  std::string key() const { return device_kind + " " + text(); }
};

// A target that was found: its offer, and the options as given.
struct ResolvedTarget {
  Offer offer;
  google::protobuf::Struct options;

  std::string name() const;  // "inductor@env:nightly(mode=max-autotune)"
  std::string key() const;   // canonical JSON of all that identifies it
  v1::Target ToProto() const;
};

// The offers of one worker.
std::vector<Offer> OffersOf(const google::protobuf::RepeatedPtrField<v1::Runner>& runners,
                            const google::protobuf::RepeatedPtrField<v1::Device>& devices);

// The target that `request` means among `offers`; offers of live workers win over those only seen once. Its options are
// checked against the offer's schema. `role` ("candidate", "baseline") begins the messages. InvalidArgument: the
// request is wrong; FailedPrecondition: no worker has it, or several different ones match.
absl::StatusOr<ResolvedTarget> Resolve(const v1::Target& request, const std::vector<Offer>& offers,
                                       const std::string& role);

// The baseline that the candidate's runner names: its own, in the same build and environment, or another runner's in
// the default environment; on the same device kind.
absl::StatusOr<ResolvedTarget> DefaultBaseline(const ResolvedTarget& candidate, const std::vector<Offer>& offers);

// `baseline` is nullptr where the candidate is only compiled. InvalidArgument where the two need different kinds of
// device.
absl::StatusOr<std::string> RequirementOf(const ResolvedTarget& candidate, const ResolvedTarget* baseline);

// Whether both arms are the same target: such trials are what a device is calibrated with.
bool IsCalibration(const std::string& requirement);

// What a requirement asks for, in words: "torchscript 2.13.0 and eager 2.13.0 on cpu".
std::string DescribeRequirement(const std::string& requirement);

// Tests requirements against one worker's offers.
class Capabilities {
 public:
  explicit Capabilities(const std::vector<Offer>& offers);
  // True where a device of `kind` of this worker can run it.
  bool Serves(const std::string& requirement, const std::string& kind) const;
  bool Serves(const std::string& requirement) const;  // on any of its devices

 private:
  std::set<std::string> keys_;
};

}  // namespace assay::server
