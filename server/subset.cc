#include "server/subset.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <tuple>

#include "measure/quantiles.h"
#include "server/text.h"

namespace assay::server {

namespace {

// Where nothing was measured. Only their proportions matter once something was.
constexpr double kCompileSecondsPerOperation = 0.01;
constexpr double kSecondsPerOperation = 3e-5;
constexpr double kBytesPerSecond = 1e9;
// Assay's own part of a trial, and writing its tensors.
constexpr double kHarnessSeconds = 0.5;
constexpr double kReplayBytesPerSecond = 0.8e9;
// Calls of each arm whatever the budget: both input sets, warm-up, three timed pairs.
constexpr int kUntimedPairs = 4;
constexpr int kTimedPairs = 3;
constexpr size_t kEnoughToScale = 5;

double ModelledCompile(const CostFacts& facts) {
  return kCompileSecondsPerOperation * static_cast<double>(facts.operations);
}

double ModelledPair(const CostFacts& facts) {
  return 2 * (kSecondsPerOperation * static_cast<double>(facts.operations) +
              static_cast<double>(facts.parameter_bytes) / kBytesPerSecond);
}

// The median of measured / modelled; 1 where too little was measured.
double Scale(const std::vector<CostFacts>& all, std::optional<double> CostFacts::*measured,
             double (*model)(const CostFacts&)) {
  std::vector<double> ratios;
  for (const CostFacts& facts : all) {
    if ((facts.*measured).has_value() && model(facts) > 0) ratios.push_back(*(facts.*measured) / model(facts));
  }
  if (ratios.size() < kEnoughToScale) return 1;
  std::sort(ratios.begin(), ratios.end());
  return measure::Quantile(ratios, 0.5);
}

// Features by number, with what the first graph that has one is worth.
class Features {
 public:
  explicit Features(const std::vector<SubsetCandidate>& candidates) : of_(candidates.size()) {
    double graphs = 0;
    for (const SubsetCandidate& candidate : candidates) graphs += candidate.graphs;
    std::map<std::string, int> structures;
    for (const SubsetCandidate& candidate : candidates) structures[candidate.structure] += candidate.graphs;
    Kind kind[4];
    for (size_t i = 0; i < candidates.size(); ++i) {
      Add(kind[0], i, candidates[i].structure);
      Add(kind[1], i, candidates[i].size);
      Add(kind[2], i, candidates[i].source);
      for (const std::string& callee : candidates[i].callees) Add(kind[3], i, callee);
    }
    for (const auto& [structure, number] : kind[0]) values_[number] = structures[structure] / graphs / 2;
    for (const Kind& spread : {kind[1], kind[2], kind[3]}) {
      for (const auto& [name, number] : spread) values_[number] = 1.0 / 6 / static_cast<double>(spread.size());
    }
  }

  // What the candidate adds to those that were taken.
  double Gain(size_t candidate) const {
    double gain = 0;
    for (const size_t feature : of_[candidate]) gain += values_[feature];
    return gain;
  }
  void Take(size_t candidate) {
    for (const size_t feature : of_[candidate]) values_[feature] /= 2;
  }

 private:
  using Kind = std::map<std::string, size_t>;

  void Add(Kind& kind, size_t candidate, const std::string& name) {
    const auto [it, first] = kind.emplace(name, values_.size());
    if (first) values_.push_back(0);
    std::vector<size_t>& features = of_[candidate];
    if (std::find(features.begin(), features.end(), it->second) == features.end()) features.push_back(it->second);
  }

  std::vector<std::vector<size_t>> of_;
  std::vector<double> values_;
};

}  // namespace

std::vector<double> EstimateCosts(const std::vector<CostFacts>& facts, double timing_seconds) {
  const double compile_scale = Scale(facts, &CostFacts::compile_seconds, ModelledCompile);
  const double pair_scale = Scale(facts, &CostFacts::pair_seconds, ModelledPair);
  std::vector<double> out;
  for (const CostFacts& one : facts) {
    if (!one.pair_seconds && one.failed_seconds) {
      out.push_back(std::max(kHarnessSeconds, *one.failed_seconds));
      continue;
    }
    const double compile = one.compile_seconds.value_or(compile_scale * ModelledCompile(one));
    const double pair = one.pair_seconds.value_or(pair_scale * ModelledPair(one));
    out.push_back(kHarnessSeconds + static_cast<double>(one.parameter_bytes) / kReplayBytesPerSecond + compile +
                  std::max(timing_seconds, kTimedPairs * pair) + kUntimedPairs * pair);
  }
  return out;
}

std::vector<size_t> ChooseSubset(const std::vector<SubsetCandidate>& candidates, double budget_seconds) {
  Features features(candidates);
  // Value a second, the first of equals first. What a candidate adds only falls while others are taken, so that only
  // the one in front must be looked at again.
  using Entry = std::tuple<double, int64_t>;
  std::priority_queue<Entry> queue;
  const auto rate = [&](size_t i) { return features.Gain(i) / std::max(candidates[i].seconds, 1e-3); };
  for (size_t i = 0; i < candidates.size(); ++i) queue.emplace(rate(i), -static_cast<int64_t>(i));
  std::vector<size_t> chosen;
  double left = budget_seconds;
  while (!queue.empty()) {
    const auto [old_rate, number] = queue.top();
    queue.pop();
    const auto i = static_cast<size_t>(-number);
    if (candidates[i].seconds > left) continue;
    if (const Entry now(rate(i), number); !queue.empty() && now < queue.top()) {
      queue.push(now);
      continue;
    }
    features.Take(i);
    left -= candidates[i].seconds;
    chosen.push_back(i);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::string SizeClass(int64_t operations, int64_t parameter_bytes) {
  const auto power = [](int64_t value) {
    return static_cast<int>(std::log2(static_cast<double>(std::max<int64_t>(value, 1))) / 2);
  };
  return Cat(power(operations), "/", power(parameter_bytes));
}

std::string SourceOf(const std::string& name) {
  const size_t slash = name.find('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

}  // namespace assay::server
