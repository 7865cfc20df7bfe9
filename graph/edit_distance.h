// How far apart two words are, for messages that name the nearest one.
// Thread safety: a pure function.
#pragma once

#include <cstddef>
#include <string_view>

namespace assay::graph {

// Letters to insert, take away or exchange until one is the other (Levenshtein). Takes a.size() * b.size() steps: bound
// them.
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace assay::graph
