#include "client/words.h"

#include <google/protobuf/util/time_util.h>

#include <cmath>

#include "client/target.h"
#include "client/text.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

constexpr std::string_view kNothing = "–";

std::string Scaled(double value, std::string_view unit) {
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
}

}  // namespace

std::string Duration(double ns) {
  if (!(ns > 0)) return std::string(kNothing);
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return Scaled(ns / 1e3, "µs");
  if (ns < 1e9) return Scaled(ns / 1e6, "ms");
  if (ns < 60e9) return Scaled(ns / 1e9, "s");
  return Seconds(ns / 1e9);
}

std::string Seconds(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string Bytes(int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  int unit = 0;
  while (value >= 1024) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, value < 10 ? 1 : 0, kUnits[unit]);
}

std::string Fixed(double value, int digits) {
  if (std::isnan(value)) return std::string(kNothing);
  return fmt::format("{:.{}f}", value, digits);
}

std::string WithInterval(double value, double low, double high, int digits) {
  if (low == 0 && high == 0) return Fixed(value, digits);
  return fmt::format("{} [{}, {}]", Fixed(value, digits), Fixed(low, digits), Fixed(high, digits));
}

std::string When(const google::protobuf::Timestamp& time) {
  if (time.seconds() == 0) return std::string(kNothing);
  return google::protobuf::util::TimeUtil::ToString(time).substr(0, 16);
}

std::string CriticalT(double t) {
  if (std::isinf(t)) return t < 0 ? "exact" : "never";
  if (std::isnan(t)) return std::string(kNothing);
  return fmt::format("{:.1f}", t);
}

std::string ClassWord(v1::OutcomeClass outcome_class) {
  // The names of measure/error_class.h, which counts and curves use; the API's enumeration cannot have a bare NAN.
  if (outcome_class == v1::NAN_MISMATCH) return "nan";
  if (outcome_class == v1::INF_MISMATCH) return "inf";
  return LowerCase(v1::OutcomeClass_Name(outcome_class));
}

std::string DetailWord(v1::FailureDetail detail) {
  if (detail == v1::FAILURE_DETAIL_UNSPECIFIED) return "";
  return LowerCase(v1::FailureDetail_Name(detail));
}

std::string VerdictWord(v1::Verdict verdict) {
  if (verdict == v1::VERDICT_UNSPECIFIED) return std::string(kNothing);
  return LowerCase(v1::Verdict_Name(verdict));
}

std::string DegeneracyWord(v1::Degeneracy degeneracy) {
  if (degeneracy == v1::DEGENERACY_UNSPECIFIED) return "";
  return LowerCase(v1::Degeneracy_Name(degeneracy));
}

std::string TargetWord(const v1::Target& target) { return target.name().empty() ? TargetText(target) : target.name(); }

int Width(std::string_view utf8) {
  int width = 0;
  for (const char c : utf8) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return width;
}

}  // namespace assay::client
