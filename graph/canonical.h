// The one fixed form of a graph: a GraphNet sample again, in which spaces, temporary names, redundant parentheses and
// the order of attributes are settled. Parse(Canonical(g)) is g, and Canonical(Parse(Canonical(g))) is byte-equal.
// What any runner executes is this text and never what a user submitted.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "graph/graph.h"
#include "graph/parse.h"

namespace assay::graph {

// Changes whenever the canonical text of any graph changes; part of every hash.
inline constexpr std::string_view kCanonicalVersion = "assay-canonical-1";

// The whole sample. Values are named v0, v1, …; parameters keep their names; a value is set to None after its last
// use, so that a Python runner frees memory when the C++ one does. `info` has only the framework and the counts.
Sample Canonical(const Graph& graph);

// model.py alone, its devices written as "cuda" where `device` is that, else as "cpu", for a text has no other words
// for them: what a Python runner is given. Of a StableHLO graph its module.
std::string CanonicalModel(const Graph& graph, std::string_view device = "cpu");

// 64 lower-case hex digits: SHA-256 of the version and the canonical sample's model and metadata.
std::string Hash(const Graph& graph);
std::string HashOfCanonical(const Sample& canonical);

}  // namespace assay::graph
