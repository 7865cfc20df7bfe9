// What the contents of a tensor are like where its description does not tell, as far as its name and shape do:
// TorchDynamo's names say whether it is a parameter, a buffer of a normalisation, or an input.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::graph {

// The running variance of a normalisation: everything is divided by its root.
bool IsRunningVariance(std::string_view name);

// 1 for running variances and for the scales of normalisations (weights of one dimension), 0 for the rest.
double TypicalMean(std::string_view name, const std::vector<int64_t>& shape);

// How far the elements lie from their mean: a tenth of the mean; about 0, 1 over the root of the inputs of a unit for
// weights, 0.02 for biases, 0.1 for buffers, 1 for inputs. 0 for a single element.
double TypicalStd(std::string_view name, const std::vector<int64_t>& shape, double mean);

}  // namespace assay::graph
