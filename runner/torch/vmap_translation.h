// vmap levels in TorchScript, which has none: a tensor with batch dimensions becomes a plain one that has a dimension
// for each level, of size 1 where it is not batched, so that element by element operators broadcast to what vmap gives.
// That holds while nothing but the batch dimensions is there (what is mapped has no dimensions of its own), as in the
// functions that make attention masks; everything else is refused. Thread safety: none.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "runner/torch/program.h"

namespace assay::torch_runner {

class VmapTranslation {
 public:
  // `ranks`: of each slot, -1 where it holds no tensor or the rank is not known.
  VmapTranslation(const Program& program, ::torch::jit::Graph& graph, std::vector<::torch::jit::Value*>& slots,
                  std::vector<int64_t> ranks);

  // Translates instruction `index` where it enters or leaves a level, or works on a tensor with batch dimensions; false
  // where it does none of these. `translate` translates an instruction as it stands. Throws Unsupported.
  bool Translate(size_t index, const std::function<void(const Instruction&)>& translate);

 private:
  using JitValue = ::torch::jit::Value;

  void Push(size_t index);
  void Pop();
  void AddBatchDim(const Instruction& instruction);
  void RemoveBatchDim(const Instruction& instruction);
  void Operator(const Instruction& instruction, const std::function<void(const Instruction&)>& translate);

  bool IsBatched(const Operand& operand) const;
  int64_t RankOf(const Operand& operand) const;
  // A tensor without dimensions of its own, with one for each level.
  JitValue* Aligned(const Operand& operand);
  JitValue* Insert(const char* name, const std::vector<::torch::jit::NamedValue>& arguments);

  const Program& program_;
  ::torch::jit::Graph& graph_;
  std::vector<JitValue*>& slots_;
  const std::vector<int64_t> ranks_;
  std::set<int32_t> batched_;  // slots
  std::map<int32_t, int64_t>
      taken_;           // of a batched slot: how many levels have been removed, each now a dimension of its own
  int64_t level_ = 0;   // the innermost that is entered
  int64_t levels_ = 0;  // how many the region enters in all
};

// The rank of each slot.
std::vector<int64_t> RanksOf(const Program& program, std::span<const at::Tensor> inputs);

}  // namespace assay::torch_runner
