// Makes evaluations: checks a request, stores the evaluation and queues its trials.
// Thread safety: works in the caller's transaction.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "assay/v1/evaluations.pb.h"
#include "server/database.h"
#include "server/queue.h"

namespace assay::server {

// The policy that only compiles: no baseline, no scores.
inline constexpr char kCompileOnly[] = "aot";

struct SubmissionLimits {
  int trials = 50000;  // of one evaluation
};

// Whether a request was carried out before under its client key, for the submitter; an empty key is replaced by a
// random one. Later calls with the same key wait for this transaction's end. AlreadyExists: it was used for another
// request.
struct Submitted {
  int64_t id = 0;  // 0: it was not
  std::string client_key, request_hash;
};
absl::StatusOr<Submitted> FindSubmitted(Transaction& transaction, int64_t submitter, const std::string& client_key,
                                        const google::protobuf::Message& request);

// The policy with every field decided. InvalidArgument names the field that is out of range and the range.
absl::StatusOr<v1::Policy> CompletePolicy(const v1::Policy& request);

// The evaluation's id. A request that was carried out before under the same client key gives the same id.
absl::StatusOr<int64_t> Submit(Transaction& transaction, const Queue& queue, const SubmissionLimits& limits,
                               int64_t submitter, const v1::CreateEvaluationRequest& request);

}  // namespace assay::server
