// Samples made up for benchmarks and tests: of the form and the sizes of what TorchDynamo writes for vision and
// language models (a few hundred operations, as many parameters with names of 50 to 150 bytes, a few hundred kilobytes
// of text). Thread safety: a pure function.
#pragma once

#include <vector>

#include "graph/parse.h"

namespace assay::bench {

// The same samples for the same number; of different sizes and names.
std::vector<graph::Sample> MakeSamples(int count);

}  // namespace assay::bench
