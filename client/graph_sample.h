// A graph's texts as the API carries them, and back. Thread safety: pure functions.
#pragma once

#include <string>
#include <utility>

#include "assay/v1/suites.pb.h"
#include "graph/parse.h"

namespace assay::client {

inline v1::GraphSample ToProto(std::string hash, graph::Sample sample) {
  v1::GraphSample out;
  out.set_hash(std::move(hash));
  out.set_model(std::move(sample.model));
  out.set_weight_meta(std::move(sample.weight_meta));
  out.set_input_meta(std::move(sample.input_meta));
  out.set_info(std::move(sample.info));
  return out;
}

inline graph::Sample FromProto(const v1::GraphSample& sample) {
  return {sample.model(), sample.weight_meta(), sample.input_meta(), sample.info()};
}

}  // namespace assay::client
