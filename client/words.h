// Numbers and names as people read them: times, sizes, speed-ups, enumerations.
// Thread safety: pure functions.
#pragma once

#include <google/protobuf/timestamp.pb.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/v1/common.pb.h"

namespace assay::client {

std::string Duration(double ns);              // "870 ns", "1.24 ms", "2 min 05 s"; "–" for 0
std::string Seconds(double seconds);          // "4 s", "2 min 05 s", "3 h 10 min"
std::string Bytes(int64_t bytes);             // "512 B", "1.5 MiB"
std::string Fixed(double value, int digits);  // "–" for NaN
// "1.234 [1.201, 1.268]"; without interval where low and high are both 0.
std::string WithInterval(double value, double low, double high, int digits = 3);
std::string When(const google::protobuf::Timestamp& time);  // "2024-05-01T12:30" in UTC
// t*: "exact" for −infinity, "−5.0", "never" for more than 1.
std::string CriticalT(double t);

std::string ClassWord(v1::OutcomeClass outcome_class);  // "compile_fail"
std::string DetailWord(v1::FailureDetail detail);       // "timeout"; empty where unspecified
std::string VerdictWord(v1::Verdict verdict);           // "faster"; "–" where unspecified
std::string DegeneracyWord(v1::Degeneracy degeneracy);  // "all_zero"; empty where unspecified

// How people write a target; made from its parts where the server gave no name.
std::string TargetWord(const v1::Target& target);

// Characters (code points) that the text takes on a terminal.
int Width(std::string_view utf8);

}  // namespace assay::client
