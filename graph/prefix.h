// The beginnings of a graph, each a graph of its own: the first operations, returning what the rest still needs of
// them. All that the beginning does to the graph's outputs passes through these values, so where they agree the
// beginning is right, whatever follows.
//
// Returned are the tensors and numbers that later operations use or that the graph returns; of a tuple, the elements
// that later operations take; and, once an operation may have written in place, the parameters that were used and are
// used again, for they may have been written. Values of other kinds are not.
//
// Thread safety: a const GraphCutter may be used from any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace assay::graph {

enum class ValueKind : uint8_t {
  kTensor,     // or a number: it can be returned
  kUnwritten,  // a tensor of no defined contents: torch.empty
  kTuple,      // of tensors: its elements can be returned
  kOther,      // a size, a device, None, a list of Python's …
};

struct Prefix {
  Graph graph;  // has only the parameters that it uses; its hash is its own, and so are its replayed inputs
  // Of each output: whether the last operations, from the previous cut on, made it or may have written to it.
  std::vector<bool> is_result;
};

class GraphCutter {
 public:
  // `graph` must outlive it.
  explicit GraphCutter(const Graph& graph);

  // The numbers of operations after which the graph can be cut, ascending; the last is all of them. It cannot where
  // nothing could be returned, within a vmap level or an autocast region, or where a tuple is used later as a whole.
  const std::vector<size_t>& cuts() const { return cuts_; }

  // The first `cut` operations, the last ones being those from `previous` on. With `operands` it also returns what
  // these take from those before, as far as that can be returned and they do not write to it. Preconditions: `cut` is
  // one of cuts(), `previous` a smaller one or 0. That of all operations returns what the graph returns.
  Prefix At(size_t previous, size_t cut, bool operands) const;

 private:
  struct Element {
    int32_t tuple = 0;
    size_t operation = 0;  // a later getitem
  };
  struct Boundary {
    std::vector<int32_t> values;
    std::vector<Element> elements;
    bool possible = true;
  };
  Boundary BoundaryAt(size_t cut) const;
  std::vector<int32_t> Operands(size_t previous, size_t cut, const Boundary& boundary) const;
  Graph Build(size_t cut, const Boundary& boundary, const std::vector<int32_t>& operands) const;

  const Graph& graph_;
  std::vector<ValueKind> kinds_;
  std::vector<std::vector<size_t>> uses_;  // of each value: operations, ascending; graph_.operations.size(): an output
  std::vector<size_t> made_by_;            // of each value: one more than the operation; 0: a parameter
  std::vector<size_t> cuts_;
  size_t first_write_;  // the first operation that may write in place
};

}  // namespace assay::graph
