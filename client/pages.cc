#include "client/pages.h"

namespace assay::client {

absl::StatusOr<v1::ListOutcomesResponse> AllOutcomes(Api& api, const std::string& evaluation, bool without_degenerate) {
  v1::ListOutcomesRequest request;
  request.set_id(evaluation);
  request.set_without_degenerate(without_degenerate);
  v1::ListOutcomesResponse all;
  do {
    absl::StatusOr<v1::ListOutcomesResponse> page = api.Call(request);
    if (!page.ok()) return page;
    request.mutable_page()->set_token(page->next_page_token());
    all.mutable_outcomes()->MergeFrom(page->outcomes());
  } while (!request.page().token().empty());
  return all;
}

}  // namespace assay::client
