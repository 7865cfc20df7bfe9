#include "client/comparison_text.h"

#include <boost/json.hpp>
#include <cmath>

#include "client/table.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

std::string Ratio(const GraphChange& graph) {
  if (!graph.timed) return "–";
  const auto& d = graph.difference;
  return d.HasInterval() ? WithInterval(std::exp(d.log_ratio), std::exp(d.low), std::exp(d.high))
                         : WithInterval(std::exp(d.log_ratio), 0, 0);
}

std::string Outcomes(const GraphChange& graph) {
  return graph.before == graph.after ? graph.after : graph.before + " → " + graph.after;
}

std::string Notes(const GraphChange& graph) {
  std::string notes;
  const auto note = [&](std::string_view text) { notes += (notes.empty() ? "" : "; ") + std::string(text); };
  if (graph.at_first == graph.change) note("measured twice");
  if (graph.at_first && graph.at_first != graph.change) note(fmt::format("{} at first", ChangeWord(*graph.at_first)));
  if (graph.unstable) note("unstable");
  if (graph.timed && !graph.difference.HasInterval()) note("too few pairs for an interval");
  if (!graph.message.empty()) note(graph.message);
  return notes;
}

bool IsShown(const GraphChange& graph, bool all) {
  return all || (graph.change != Change::kSame && graph.change != Change::kFailing);
}

std::string Counts(const Comparison& comparison) {
  std::string text;
  for (const auto& [change, count] : comparison.counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, ChangeWord(change));
  }
  return text.empty() ? "no graphs" : text;
}

std::string EscapeMarkdown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\`*_{}[]<>|#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string EscapeXml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;  // XML has no form for most of them
    }
  }
  return out;
}

// "slower: 0.912 [0.900, 0.925]; correct → compile_fail".
std::string Explain(const GraphChange& graph) {
  std::string text = fmt::format("{}: {}", ChangeWord(graph.change), graph.timed ? Ratio(graph) : Outcomes(graph));
  if (const std::string notes = Notes(graph); !notes.empty()) text += "; " + notes;
  return text;
}

}  // namespace

std::string ComparisonSummary(const Comparison& comparison) {
  const v1::Evaluation &before = comparison.before, &after = comparison.after;
  std::string text = fmt::format("{} {} (evaluation {}) against {} {} (evaluation {}) on {}, common baseline {}\n{}",
                                 TargetWord(after.candidate()), after.candidate().version(), after.id(),
                                 TargetWord(before.candidate()), before.candidate().version(), before.id(),
                                 after.suite(), TargetWord(after.baseline()), Counts(comparison));
  if (comparison.timed > 0) {
    text += fmt::format("; speed {:.3f} (geometric mean of {} graphs; above 1 is faster)", comparison.mean_ratio,
                        comparison.timed);
  }
  return text + "\n";
}

std::string ComparisonText(const Comparison& comparison, bool all) {
  Table table({{"GRAPH"},
               {"CHANGE"},
               {"OUTCOME"},
               {"SPEED [95 %]"},
               {"p", true},
               {"BEFORE", true},
               {"AFTER", true},
               {"NOTES"}});
  for (const GraphChange& graph : comparison.graphs) {
    if (!IsShown(graph, all)) continue;
    table.Add({graph.graph, std::string(ChangeWord(graph.change)), Outcomes(graph), Ratio(graph),
               graph.timed ? fmt::format("{:.2g}", graph.p_value) : "–", Duration(graph.before_ns),
               Duration(graph.after_ns), Notes(graph)});
  }
  return Printable(ComparisonSummary(comparison)) + (table.rows() > 0 ? "\n" + table.Text() : "");
}

std::string ComparisonMarkdown(const Comparison& comparison, bool all) {
  const std::string summary = ComparisonSummary(comparison);
  const size_t end = summary.find('\n');
  std::string text =
      fmt::format("### {}\n\n{}\n", EscapeMarkdown(summary.substr(0, end)), EscapeMarkdown(summary.substr(end + 1)));
  bool any = false;
  for (const GraphChange& graph : comparison.graphs) {
    if (!IsShown(graph, all)) continue;
    if (!any)
      text += "\n| graph | change | outcome | speed [95 %] | before | after | notes |\n|---|---|---|---|---|---|---|\n";
    any = true;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", EscapeMarkdown(graph.graph), ChangeWord(graph.change),
                        EscapeMarkdown(Outcomes(graph)), EscapeMarkdown(Ratio(graph)), Duration(graph.before_ns),
                        Duration(graph.after_ns), EscapeMarkdown(Notes(graph)));
  }
  return text;
}

std::string ComparisonJunit(const Comparison& comparison, const std::set<Change>& failures) {
  int failed = 0, skipped = 0;
  std::string cases;
  for (const GraphChange& graph : comparison.graphs) {
    const std::string why = EscapeXml(Explain(graph));
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.9f}\"",
                         EscapeXml(comparison.after.suite()), EscapeXml(graph.graph), graph.after_ns / 1e9);
    if (failures.contains(graph.change)) {
      ++failed;
      cases += fmt::format(">\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n",
                           ChangeWord(graph.change), why);
    } else if (graph.change == Change::kSkipped || graph.change == Change::kMissing) {
      ++skipped;
      cases += fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", why);
    } else {
      cases += fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", why);
    }
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"assay compare {} {}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}"
      "  </testsuite>\n</testsuites>\n",
      comparison.before.id(), comparison.after.id(), comparison.graphs.size(), failed, skipped, cases);
}

std::string ComparisonJson(const Comparison& comparison, const std::set<Change>& failures) {
  boost::json::object counts;
  for (const auto& [change, count] : comparison.counts) counts[ChangeWord(change)] = count;
  boost::json::array graphs;
  for (const GraphChange& graph : comparison.graphs) {
    boost::json::object one = {
        {"graph", graph.graph},      {"change", ChangeWord(graph.change)}, {"before", graph.before},
        {"after", graph.after},      {"message", graph.message},           {"beforeNs", graph.before_ns},
        {"afterNs", graph.after_ns}, {"unstable", graph.unstable},         {"remeasured", graph.at_first.has_value()}};
    if (graph.at_first) one["changeAtFirst"] = ChangeWord(*graph.at_first);
    if (graph.timed) {
      one["ratio"] = std::exp(graph.difference.log_ratio);
      if (graph.difference.HasInterval()) {
        one["ratioLow"] = std::exp(graph.difference.low);
        one["ratioHigh"] = std::exp(graph.difference.high);
        one["pValue"] = graph.p_value;
      }
    }
    graphs.push_back(std::move(one));
  }
  return boost::json::serialize(boost::json::object{{"before", comparison.before.id()},
                                                    {"after", comparison.after.id()},
                                                    {"suite", comparison.after.suite()},
                                                    {"counts", std::move(counts)},
                                                    {"timed", comparison.timed},
                                                    {"meanRatio", comparison.mean_ratio},
                                                    {"failed", IsFailure(comparison, failures)},
                                                    {"graphs", std::move(graphs)}}) +
         "\n";
}

}  // namespace assay::client
