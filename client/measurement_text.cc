#include "client/measurement_text.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "client/table.h"
#include "client/text.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

std::string Indented(const std::string& text) {
  std::string out;
  for (const std::string& line : Split(text, '\n')) out += line.empty() ? "\n" : "  " + line + "\n";
  if (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::string DegeneracyText(const v1::Measurement& m) {
  switch (m.degeneracy()) {
    case v1::ALL_EQUAL:
      return "each of the baseline's outputs has one value";
    case v1::ALL_ZERO:
      return "the baseline's outputs are all zero";
    case v1::HAS_INF:
    case v1::HAS_NAN:
      return "the baseline's outputs are not finite";
    default:
      return "the baseline's outputs are all equal or not finite";
  }
}

std::string OutcomeText(const v1::Measurement& m) {
  std::string text = fmt::format("outcome     {}", ClassWord(m.outcome_class()));
  if (const std::string detail = DetailWord(m.detail()); !detail.empty()) text += " (" + detail + ")";
  if (!m.failed_phase().empty()) text += " in " + m.failed_phase();
  if (m.signal() != 0) text += fmt::format(", signal {}", m.signal());
  if (m.exit_code() != 0) text += fmt::format(", exit code {}", m.exit_code());
  if (m.outcome_class() == v1::CORRECT) text += ", t* " + CriticalT(m.critical_t());
  if (m.degenerate()) text += ", degenerate: " + DegeneracyText(m);
  text += "\n";
  if (!m.message().empty()) text += "message     " + m.message() + "\n";
  return text;
}

std::string ArmText(std::string_view name, const v1::Arm& arm) {
  std::string text = fmt::format("{:<12}{}  {} {}, {}{}\n", name, TargetWord(arm.target()), arm.target().runner(),
                                 arm.target().version(), arm.trusted() ? "trusted" : "self-reported",
                                 arm.isolated() ? ", own namespaces" : "");
  text += fmt::format("            load {}, compile {}, first call {}, peak memory {}\n", Duration(arm.load_ns()),
                      Duration(arm.compile_ns()), Duration(arm.first_call_ns()),
                      arm.peak_memory_bytes() > 0 ? Bytes(arm.peak_memory_bytes()) : "–");
  if (arm.executable_bytes() > 0 || arm.code_bytes() > 0) {
    text += fmt::format("            executable {}, code {}\n",
                        arm.executable_bytes() > 0 ? Bytes(arm.executable_bytes()) : "–",
                        arm.code_bytes() > 0 ? Bytes(arm.code_bytes()) : "–");
  }
  if (!arm.memory().empty()) {
    const std::map<std::string, int64_t> sorted(arm.memory().begin(), arm.memory().end());
    text += "            memory by the compiler's account:";
    for (const auto& [name, bytes] : sorted) text += fmt::format(" {} {}", name, Bytes(bytes));
    text += "\n";
  }
  if (!arm.cost_estimate().empty()) {
    const std::map<std::string, double> sorted(arm.cost_estimate().begin(), arm.cost_estimate().end());
    text += "            the compiler's own estimate, not a measurement:";
    for (const auto& [name, value] : sorted) text += fmt::format(" {} {:.4g}", name, value);
    text += "\n";
  }
  for (const v1::Artifact& artifact : arm.artifacts()) {
    text += fmt::format("            artifact {} ({})\n", artifact.name(), Bytes(artifact.bytes()));
  }
  return text;
}

std::string PhasesText(const v1::Measurement& m) {
  Table table({{"PHASE"}, {"START", true}, {"TIME", true}, {"HARNESS"}});
  for (const v1::Phase& phase : m.phases()) {
    table.Add({phase.name(), phase.start_ns() == 0 ? "0" : Duration(phase.start_ns()), Duration(phase.duration_ns()),
               phase.harness() ? "yes" : ""});
  }
  return fmt::format("phases      {} in all, {} of it Assay's own; {} replayed\n", Duration(m.wall_ns()),
                     Duration(m.harness_ns()), Bytes(m.replayed_bytes())) +
         Indented(table.Text());
}

std::string TimingText(const v1::Timing& timing, bool cold) {
  const double speedup = std::exp(timing.log_speedup());
  std::string text =
      fmt::format("speed-up    {}{}\n",
                  timing.has_interval() ? WithInterval(speedup, std::exp(timing.low()), std::exp(timing.high()), 4)
                                        : Fixed(speedup, 4) + " (fewer than 3 pairs: no interval)",
                  timing.unstable() ? ", unstable: missed the wanted half-width" : "");
  text += fmt::format("            {} pairs in {} batches, {} + {} calls a sample, {} warm-up calls, {}{}{}\n",
                      timing.pairs(), timing.batches(), timing.calls_per_sample_candidate(),
                      timing.calls_per_sample_baseline(), timing.warmup_calls(),
                      timing.one_process() ? "both in one process" : "two processes", cold ? ", cold caches" : "",
                      timing.processes() > 1 ? fmt::format(", {} fresh processes", timing.processes()) : "");
  if (timing.recompiles() > 0)
    text += fmt::format("            {} recompilations in the timed part\n", timing.recompiles());
  Table table(
      {{"A CALL"}, {"MINIMUM", true}, {"QUARTILE", true}, {"MEDIAN", true}, {"QUARTILE", true}, {"MAXIMUM", true}});
  const auto add = [&](const char* name, const google::protobuf::RepeatedField<double>& quantiles) {
    if (quantiles.size() != 5) return;
    std::vector<std::string> row = {name};
    for (const double ns : quantiles) row.push_back(Duration(ns));
    table.Add(std::move(row));
  };
  add("candidate", timing.candidate_quantiles_ns());
  add("baseline", timing.baseline_quantiles_ns());
  add("candidate, device's clock", timing.candidate_device_quantiles_ns());
  add("baseline, device's clock", timing.baseline_device_quantiles_ns());
  return text + (table.rows() > 0 ? Indented(table.Text()) : "");
}

std::string ReferenceText(const v1::Reference& reference) {
  if (!reference.failure().empty()) return "reference   none in float64: " + reference.failure() + "\n";
  const auto side = [](const v1::ReferenceArm& arm) {
    const std::string off = fmt::format("t* {}, off by {:.3g} at most, {:.3g} on average", CriticalT(arm.critical_t()),
                                        arm.max_abs_diff(), arm.mean_abs_diff());
    return arm.outcome_class() == v1::CORRECT ? off : ClassWord(arm.outcome_class()) + ", " + off;
  };
  const v1::ReferenceArm &baseline = reference.baseline(), &candidate = reference.candidate();
  const bool same = baseline.critical_t() == candidate.critical_t();
  return fmt::format("reference   in float64, by runner {}: {}\n            baseline {}\n            candidate {}\n",
                     reference.runner(),
                     same                                             ? "both are equally far off"
                     : candidate.critical_t() > baseline.critical_t() ? "the candidate is farther off"
                                                                      : "the baseline is farther off",
                     side(baseline), side(candidate));
}

std::string ComparisonsText(const v1::Measurement& m) {
  Table table({{"INPUTS"},
               {"OUTPUT", true},
               {"TYPE"},
               {"RESULT"},
               {"t*", true},
               {"MAX DIFF", true},
               {"MEAN DIFF", true},
               {"FIRST BAD", true},
               {"NOTE"}});
  for (const v1::OutputComparison& c : m.comparisons()) {
    table.Add({c.input_set(), std::to_string(c.output()), fmt::format("{}[{}]", c.dtype(), fmt::join(c.shape(), ", ")),
               ClassWord(c.output_class()), CriticalT(c.critical_t()), fmt::format("{:.3g}", c.max_abs_diff()),
               fmt::format("{:.3g}", c.mean_abs_diff()),
               c.first_bad_index() < 0 ? "–" : std::to_string(c.first_bad_index()),
               c.message() + (c.degenerate() ? " degenerate " + DegeneracyWord(c.degeneracy()) : "")});
  }
  return "outputs\n" + Indented(table.Text());
}

std::string ValueText(const google::protobuf::Value& value) {
  switch (value.kind_case()) {
    case google::protobuf::Value::kStringValue:
      return value.string_value();
    case google::protobuf::Value::kNumberValue:
      return fmt::format("{}", value.number_value());
    case google::protobuf::Value::kBoolValue:
      return value.bool_value() ? "yes" : "no";
    case google::protobuf::Value::kListValue: {
      std::vector<std::string> items;
      for (const auto& item : value.list_value().values()) items.push_back(ValueText(item));
      return fmt::format("{}", fmt::join(items, ", "));
    }
    case google::protobuf::Value::kStructValue: {
      std::map<std::string, std::string> sorted;
      for (const auto& [name, item] : value.struct_value().fields()) sorted[name] = ValueText(item);
      std::vector<std::string> items;
      for (const auto& [name, item] : sorted) items.push_back(name + " " + item);
      return fmt::format("{}", fmt::join(items, ", "));
    }
    default:
      return "–";
  }
}

std::string StructText(std::string_view title, const google::protobuf::Struct& fields) {
  std::map<std::string, std::string> sorted;
  for (const auto& [name, value] : fields.fields()) {
    std::string& text = sorted[name];
    // Lists of records, one a line.
    const bool records = value.has_list_value() && !value.list_value().values().empty() &&
                         value.list_value().values(0).has_struct_value();
    if (records) {
      for (const auto& item : value.list_value().values()) text += "\n    " + ValueText(item);
    } else {
      text = " " + ValueText(value);
    }
  }
  std::string text = std::string(title) + "\n";
  for (const auto& [name, value] : sorted) text += fmt::format("  {}:{}\n", name, value);
  return text;
}

// Many numbers, of as many processors, as the range that they are in; empty where it is no such list.
std::string RangeText(const google::protobuf::ListValue& list) {
  constexpr int kShort = 8;
  if (list.values_size() <= kShort) return "";
  double low = list.values(0).number_value(), high = low;
  for (const auto& value : list.values()) {
    if (!value.has_number_value()) return "";
    low = std::min(low, value.number_value());
    high = std::max(high, value.number_value());
  }
  return fmt::format("{} to {} ({} values)", low, high, list.values_size());
}

// All fields in one line, but what was before and after.
std::string FieldsText(const google::protobuf::Struct& fields) {
  std::map<std::string, std::string> sorted;
  for (const auto& [name, value] : fields.fields()) {
    if (name == "before" || name == "after") continue;
    const std::string range = RangeText(value.list_value());
    sorted[name] = range.empty() ? ValueText(value) : range;
  }
  std::vector<std::string> items;
  for (const auto& [name, text] : sorted) items.push_back(name + " " + text);
  return fmt::format("{}", fmt::join(items, ", "));
}

// The conditions of each process that was timed.
std::string ProcessesText(const google::protobuf::ListValue& processes) {
  std::string text;
  for (int i = 0; i < processes.values_size(); ++i) {
    const google::protobuf::Struct& process = processes.values(i).struct_value();
    text += fmt::format("  process {}: {}\n", i + 1, FieldsText(process));
    for (const char* name : {"before", "after"}) {
      const auto found = process.fields().find(name);
      if (found == process.fields().end()) continue;
      text += fmt::format("    {}: {}\n", name, FieldsText(found->second.struct_value()));
    }
  }
  return text;
}

// How often the processors were slowed down for their heat while they were timed.
double Throttled(const google::protobuf::Struct& conditions) {
  const auto processes = conditions.fields().find("processes");
  if (processes == conditions.fields().end()) return 0;
  double sum = 0;
  for (const auto& process : processes->second.list_value().values()) {
    const auto throttled = process.struct_value().fields().find("throttled");
    if (throttled != process.struct_value().fields().end()) sum += throttled->second.number_value();
  }
  return sum;
}

std::string ConditionsText(const google::protobuf::Struct& conditions) {
  google::protobuf::Struct rest = conditions;
  rest.mutable_fields()->erase("processes");
  std::string text = StructText("conditions", rest);
  const auto processes = conditions.fields().find("processes");
  if (processes != conditions.fields().end()) text += ProcessesText(processes->second.list_value());
  return text;
}

}  // namespace

std::string MeasurementText(const v1::Measurement& m) {
  std::string text = fmt::format("measurement {}  {}  by {} on {}, sandbox {}, policy {}\n", m.id(), When(m.created()),
                                 m.worker(), m.device(), m.sandbox(), m.policy().name());
  text += OutcomeText(m);
  if (m.self_reported()) text += "            self-reported: a runner took the times that does not ship with Assay\n";
  if (m.has_candidate() && !m.has_baseline()) text += "            only compiled: nothing was run or timed\n";
  if (m.has_candidate()) text += ArmText("candidate", m.candidate());
  if (m.has_baseline()) text += ArmText("baseline", m.baseline());
  if (m.has_timing() && m.timing().pairs() > 0) text += TimingText(m.timing(), m.policy().cache() == "cold");
  if (const double throttled = Throttled(m.conditions()); throttled > 0) {
    text += fmt::format("            the processors were throttled {} times while this was timed\n", throttled);
  }
  if (!m.comparisons().empty()) text += ComparisonsText(m);
  if (m.has_reference()) text += ReferenceText(m.reference());
  if (!m.phases().empty()) text += PhasesText(m);
  text += fmt::format("replay      {}, secret seed {}\n", m.replay(), m.secret_seed().empty() ? "–" : m.secret_seed());
  if (!m.environment().fields().empty())
    text += StructText("environment " + m.environment_hash().substr(0, 12), m.environment());
  if (!m.conditions().fields().empty()) text += ConditionsText(m.conditions());
  if (!m.evidence().empty()) text += "evidence (end of the runner's standard error)\n" + Indented(m.evidence());
  return Printable(text);
}

}  // namespace assay::client
