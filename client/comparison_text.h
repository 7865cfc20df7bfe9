// A comparison as people, pull requests, CI systems and programs read it.
// Thread safety: pure functions.
#pragma once

#include <set>
#include <string>

#include "client/comparison.h"

namespace assay::client {

// "evaluation 8 against evaluation 7 …" and the counts: two lines.
std::string ComparisonSummary(const Comparison& comparison);

// What `all` leaves out: graphs that are the same, or fail as before.
std::string ComparisonText(const Comparison& comparison, bool all);
std::string ComparisonMarkdown(const Comparison& comparison, bool all);
// One test case a graph; those whose change is in `failures` fail, those that were not compared are skipped.
std::string ComparisonJunit(const Comparison& comparison, const std::set<Change>& failures);
// One line.
std::string ComparisonJson(const Comparison& comparison, const std::set<Change>& failures);

}  // namespace assay::client
