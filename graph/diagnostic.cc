#include "graph/diagnostic.h"

#include <charconv>
#include <optional>

#include "absl/strings/cord.h"
#include "graph/parse.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

constexpr char kPayload[] = "assay.graph.Diagnostic";
constexpr size_t kQuotedBytes = 80;

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

int Number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

absl::Status Refusal(absl::StatusCode code, std::string_view file, int line, int column, std::string_view message) {
  std::string place(file);
  if (line > 0) place += Cat(":", line);
  if (line > 0 && column > 0) place += Cat(":", column);
  absl::Status status(code, Cat(place, ": ", message));
  status.SetPayload(kPayload, absl::Cord(Cat(file, "\n", line, "\n", column, "\n", message)));
  return status;
}

std::optional<Diagnostic> DiagnosticOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  const std::string text(*payload);
  std::string_view rest = text;
  Diagnostic diagnostic;
  diagnostic.file = TakeLine(rest);
  diagnostic.line = Number(TakeLine(rest));
  diagnostic.column = Number(TakeLine(rest));
  diagnostic.message = rest;
  return diagnostic;
}

std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, kQuotedBytes)) {
    if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      constexpr char kHex[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  out += text.size() > kQuotedBytes ? "…'" : "'";
  return out;
}

}  // namespace assay::graph
