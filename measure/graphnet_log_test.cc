#include "measure/graphnet_log.h"

#include <cmath>
#include <limits>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "measure/graphnet_log_reader.h"

namespace assay::measure {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string Tag(std::string_view line) { return fmt::format("{} {}\n", kLogPrompt, line); }

// A block of a graph whose outputs are close from `levels` on, as GraphNet's runner writes it.
std::string Block(const std::string& path, const std::vector<std::string>& dtypes, const std::vector<int>& levels,
                  const std::string& speedup) {
  std::string types, equal;
  for (const std::string& dtype : dtypes) types += fmt::format("{}{}", types.empty() ? "" : " ", dtype);
  for (size_t i = 0; i < levels.size(); ++i) equal += i == 0 ? "0" : " 0";
  std::string log = Tag("[Processing] " + path) + Tag("[Config] model: m") + Tag("[Config] device: cpu") +
                    Tag("[Config] hardware: ") + Tag("[Config] compiler: inductor") +
                    Tag("[Datatype][eager]: " + types) + Tag("[Datatype][compiled]: " + types) +
                    Tag("[DataType] eager:[] compiled:[] match:True") + Tag("[Correctness][equal]: " + equal);
  for (int t = kFirstLogLevel; t <= kLastLogLevel; ++t) {
    for (const char* dtype : {"float16", "bfloat16", "float32", "float64"}) {
      std::string bits;
      for (const int level : levels) bits += fmt::format("{}{}", bits.empty() ? "" : " ", t >= level ? 1 : 0);
      log += Tag(fmt::format("[Correctness]{}: {}", LogKey(RuleOf(dtype), t), bits));
    }
  }
  log += Tag("[Correctness][max_diff]: 0.5") + Tag("[Result] status: success");
  if (!speedup.empty()) log += Tag("[Speedup][e2e]: " + speedup);
  return log;
}

LogContents Read(const std::string& text, LogReading reading) {
  LogReader reader(reading);
  const absl::Status status = reader.Read(text, "f");
  EXPECT_TRUE(status.ok()) << status;
  return reader.contents();
}
LogOutcome ReadOne(const std::string& text, LogReading reading) {
  const LogContents contents = Read(text, reading);
  EXPECT_EQ(contents.outcomes.size(), 1u);
  return contents.outcomes.front();
}
const LogReading kBoth[] = {LogReading::kHonest, LogReading::kAsPeer};

LoggedGraph Graph(ErrorClass error_class, std::vector<LoggedOutput> outputs = {{"float32", -4.5}}) {
  LoggedGraph graph;
  graph.path = "vision/a b";
  graph.configuration = {{"model", "a"}, {"device", "cpu"}, {"hardware", "Some [CPU]"}, {"compiler", "inductor_x"}};
  graph.error_class = error_class;
  graph.message = "no [Processing] all_close\nError: x";
  graph.outputs = std::move(outputs);
  if (error_class == ErrorClass::kCorrect) graph.speedup = 1.0 / 3;
  return graph;
}

TEST(GraphNetLog, KeysAreTheRunnersOwn) {
  EXPECT_EQ(LogKey(RuleOf("float32"), -10), "[all_close_atol_1.00E-10_rtol_1.69E-12]");
  EXPECT_EQ(LogKey(RuleOf("bfloat16"), -5), "[all_close_atol_1.00E-05_rtol_1.60E-02]");
  EXPECT_EQ(LogKey(RuleOf("float64"), 5), "[all_close_atol_1.00E+07_rtol_1.00E+07]");
  EXPECT_EQ(LogKey(RuleOf("int64"), 0), "[equal]");
}

TEST(GraphNetLog, WrittenClassesAreReadBack) {
  for (const ErrorClass error_class : kErrorClasses) {
    if (!IsScored(error_class)) continue;
    LoggedGraph graph = Graph(error_class);
    if (error_class == ErrorClass::kAccuracy) graph.outputs[0] = {"float32", 3, 0.5};
    if (error_class == ErrorClass::kNan) graph.outputs[0] = {"float32", kInfinity, std::nan("")};
    if (error_class == ErrorClass::kInf) graph.outputs[0] = {"float32", kInfinity, kInfinity};
    const std::string log = WriteLogBlock(graph);
    EXPECT_EQ(ReadOne(log, LogReading::kHonest).error_class, error_class) << log;
    const bool wrong = error_class == ErrorClass::kNan || error_class == ErrorClass::kInf;
    EXPECT_EQ(ReadOne(log, LogReading::kAsPeer).error_class, wrong ? ErrorClass::kAccuracy : error_class) << log;
  }
}

TEST(GraphNetLog, WrittenNumbersAreReadBack) {
  LoggedGraph graph = Graph(ErrorClass::kCorrect, {{"float32", -4.5}, {"bfloat16", -2}, {"int64", -kInfinity}});
  graph.baseline = LoggedTimes{1e6, 2e6, 3e6, 4e6, 5e6};
  graph.candidate = LoggedTimes{1e6, 2e6, 9e6, 9.5e6, 10e6};
  for (const LogReading reading : kBoth) {
    const LogOutcome outcome = ReadOne(WriteLogBlock(graph), reading);
    EXPECT_EQ(outcome.path, "vision/a_b");
    EXPECT_EQ(outcome.critical_t, -2);
    EXPECT_EQ(outcome.speedup, 1.0 / 3);
    EXPECT_THAT(Read(WriteLogBlock(graph), reading).configuration.at("compiler"), testing::ElementsAre("inductor_x"));
    EXPECT_DOUBLE_EQ(outcome.baseline_ns, 3e6);
    EXPECT_DOUBLE_EQ(outcome.candidate_ns, 9e6);
  }
  graph.outputs = {{"float64", -kInfinity}, {"bool", -kInfinity}};
  for (const LogReading reading : kBoth) EXPECT_EQ(ReadOne(WriteLogBlock(graph), reading).critical_t, -kInfinity);
  graph.outputs = {{"float16", -20}};  // below the lowest level that a log tests
  for (const LogReading reading : kBoth) EXPECT_EQ(ReadOne(WriteLogBlock(graph), reading).critical_t, -10);
}

TEST(GraphNetLog, EveryLevelOfEveryDtypeIsReadBack) {
  for (const char* dtype : {"float16", "bfloat16", "float32", "float64"}) {
    for (int t = -10; t <= 1; ++t) {
      for (const LogReading reading : kBoth) {
        EXPECT_EQ(ReadOne(WriteLogBlock(Graph(ErrorClass::kCorrect, {{dtype, t - 0.25}})), reading).critical_t, t)
            << dtype;
      }
    }
  }
}

TEST(GraphNetLogReader, AWarningIsAFailureToThePeerAlone) {
  const std::string log = Block("/a", {"float32"}, {-3}, "2.0") + "UserWarning: Error: not so bad\n";
  EXPECT_EQ(ReadOne(log, LogReading::kAsPeer).error_class, ErrorClass::kRuntimeFail);
  EXPECT_EQ(ReadOne(log, LogReading::kHonest).error_class, ErrorClass::kCorrect);
}

TEST(GraphNetLogReader, ComplexOutputsMustBeEqualToThePeerAlone) {
  const std::string log = Block("/a", {"complex64"}, {-3}, "2.0");
  EXPECT_EQ(ReadOne(log, LogReading::kAsPeer).error_class, ErrorClass::kAccuracy);
  EXPECT_EQ(ReadOne(log, LogReading::kHonest).critical_t, -3);
}

TEST(GraphNetLogReader, ATypeMismatchIsAShapeMismatchToThePeer) {
  const std::string log =
      Tag("[Processing] /a") + Tag("[Datatype][eager]: float32") + Tag("[Datatype][compiled]: float16") +
      Tag("[DataType] eager:['float32'] compiled:['float16'] match:False") + Tag("[Result] status: success");
  EXPECT_EQ(ReadOne(log, LogReading::kAsPeer).error_class, ErrorClass::kShapeMismatch);
  EXPECT_EQ(ReadOne(log, LogReading::kHonest).error_class, ErrorClass::kTypeMismatch);
}

std::string Failed(const std::string& side, const std::string& text) {
  return Tag("[Processing] /a") + text + Tag("[Result] status: failed") +
         Tag("[Fail due to " + side + " model execution error.]");
}
constexpr char kNoise[] = "Environment fluctuation detected.\n  IQR/median = 21.4% (threshold: 20%)\n";

TEST(GraphNetLogReader, NoiseIsNobodysError) {
  const std::string compiled =
      Failed("compiled", fmt::format("Compiled model execution failed: {0}\n--- Full Traceback "
                                     "---\nRuntimeError: {0}debug-model-execution "
                                     "RuntimeError /a\n",
                                     kNoise));
  const std::string eager = Failed("eager", fmt::format("Eager model execution failed: {}", kNoise));
  for (const std::string& log : {compiled, eager}) {
    EXPECT_EQ(ReadOne(log, LogReading::kAsPeer).error_class, ErrorClass::kEagerFail);
    const LogContents honest = Read(log, LogReading::kHonest);
    EXPECT_EQ(honest.outcomes[0].error_class, ErrorClass::kSkipped);
    EXPECT_THAT(honest.outcomes[0].message, HasSubstr("IQR/median = 21.4%"));
    EXPECT_THAT(honest.notes, testing::ElementsAre(HasSubstr("f:1: /a is not counted")));
  }
}

TEST(GraphNetLogReader, ACompileFailureIsOne) {
  const std::string compile = fmt::format(
      "Eager model execution failed: {}Compiled model execution failed: two devices\n\n--- Full Traceback ---\n"
      "Traceback (most recent call last):\n  File \"x.py\", line 1\ntorch._dynamo.exc.TorchRuntimeError: two devices\n"
      "debug-model-execution TorchRuntimeError /a\n",
      kNoise);
  const LogOutcome outcome = ReadOne(Failed("eager", compile), LogReading::kHonest);
  EXPECT_EQ(outcome.error_class, ErrorClass::kCompileFail);
  EXPECT_EQ(outcome.message, "two devices");
  EXPECT_EQ(ReadOne(Failed("eager", compile), LogReading::kAsPeer).error_class, ErrorClass::kEagerFail);
  const std::string run =
      "Compiled model execution failed: bad index\n\n--- Full Traceback ---\nIndexError: bad index\n"
      "debug-model-execution IndexError /a\n";
  EXPECT_EQ(ReadOne(Failed("compiled", run), LogReading::kHonest).error_class, ErrorClass::kRuntimeFail);
  // An exception of no type that the runner names: only the traceback tells.
  const std::string other =
      "\n--- Full Traceback ---\ntorch._inductor.exc.InductorError: x\ndebug-model-execution "
      "InductorError /a\n";
  EXPECT_EQ(ReadOne(Failed("compiled", other), LogReading::kHonest).error_class, ErrorClass::kCompileFail);
  EXPECT_EQ(ReadOne(Failed("eager", "Eager model execution failed: no memory\n"), LogReading::kHonest).error_class,
            ErrorClass::kEagerFail);
  EXPECT_EQ(ReadOne(Failed("eager", ""), LogReading::kHonest).error_class, ErrorClass::kEagerFail);
}

TEST(GraphNetLogReader, WhatIsCutOffIsSkippedWhereverItIsCut) {
  const std::string whole = Block("/a", {"float32", "float64"}, {-3, -2}, "1.5");
  ASSERT_EQ(ReadOne(whole, LogReading::kHonest).error_class, ErrorClass::kCorrect);
  size_t skipped = 0;
  for (size_t end = whole.find('\n') + 1; end < whole.rfind("[Speedup][e2e]: ") + 16; end += 7) {
    const LogOutcome outcome = ReadOne(whole.substr(0, end), LogReading::kHonest);
    EXPECT_EQ(outcome.error_class, ErrorClass::kSkipped) << end;
    EXPECT_FALSE(outcome.message.empty());
    ++skipped;
  }
  EXPECT_GT(skipped, 500u);
}

TEST(GraphNetLogReader, WhatIsInterleavedIsSkipped) {
  const std::string a = Block("/a", {"float32"}, {-3}, "1.5"), b = Block("/b", {"float32"}, {-3}, "2.5");
  const auto all_skipped = [](const std::string& log) {
    const LogContents contents = Read(log, LogReading::kHonest);
    for (const LogOutcome& outcome : contents.outcomes) {
      EXPECT_EQ(outcome.error_class, ErrorClass::kSkipped) << outcome.path;
    }
    EXPECT_EQ(contents.notes.size(), contents.outcomes.size());
  };
  const size_t first = a.find('\n') + 1;
  all_skipped(a.substr(0, first) + b.substr(0, b.find('\n') + 1) + a.substr(first) + b.substr(b.find('\n') + 1));
  const size_t middle = a.find("[Datatype][compiled]");
  all_skipped(a.substr(0, middle) + Tag("[Datatype][eager]: float32") + a.substr(middle));
  const size_t speedup = a.rfind(kLogPrompt);
  all_skipped(a.substr(0, speedup - 1) + " " + a.substr(speedup));  // two lines became one
}

TEST(GraphNetLogReader, ContradictionsAreSkipped) {
  const std::string good = Block("/a", {"float32"}, {-3}, "1.5");
  const std::string key = LogKey(RuleOf("float32"), -1) + ": ";
  std::string broken = good;
  broken[broken.find(key) + key.size()] = '0';
  for (const LogReading reading : kBoth) {
    EXPECT_THAT(ReadOne(broken, reading).message, HasSubstr("close at one level and not at a higher one"));
    for (const char* speedup : {"", "0.00000", "nan", "fast"}) {
      EXPECT_EQ(ReadOne(Block("/a", {"float32"}, {-3}, speedup), reading).error_class, ErrorClass::kSkipped) << speedup;
    }
    EXPECT_EQ(ReadOne(Block("/a", {"float32"}, {-3, -3}, "1"), reading).error_class, ErrorClass::kSkipped);
  }
}

TEST(GraphNetLogReader, SeveralFilesFollowEachOther) {
  LogReader reader(LogReading::kHonest);
  ASSERT_TRUE(reader.Read(Tag("[Result] status: success") + Block("/a", {"float32"}, {2}, "1"), "one").ok());
  ASSERT_TRUE(reader.Read("noise\r\n" + Block("/b\xff", {"int64"}, {-3}, "1"), "two").ok());
  const LogContents& contents = reader.contents();
  ASSERT_EQ(contents.outcomes.size(), 2u);
  EXPECT_EQ(contents.outcomes[0].error_class, ErrorClass::kAccuracy);
  EXPECT_EQ(contents.outcomes[1].error_class, ErrorClass::kAccuracy);  // integers must be equal
  EXPECT_EQ(contents.outcomes[1].path, "/b\xEF\xBF\xBD");
  EXPECT_EQ(contents.outcomes[1].file, "two");
  EXPECT_EQ(contents.outcomes[1].line, 2);
  EXPECT_THAT(contents.notes, testing::ElementsAre(HasSubstr("one:1: 1 lines before the first")));
  EXPECT_THAT(contents.configuration.at("compiler"), testing::ElementsAre("inductor"));
  EXPECT_EQ(contents.configuration.count("hardware"), 0u);
}

TEST(GraphNetLogReader, RefusesWhatIsNoLog) {
  LogReader reader(LogReading::kHonest);
  EXPECT_THAT(std::string(reader.Read("hello\n", "f").message()), HasSubstr("not a log"));
  EXPECT_THAT(std::string(reader.Read("", "f").message()), HasSubstr("not a log"));
  EXPECT_THAT(std::string(reader.Read(std::string(kLongestLogLine + 1, 'x'), "f").message()),
              HasSubstr("f:1: a line of"));
  EXPECT_THAT(reader.contents().outcomes, IsEmpty());
}

}  // namespace
}  // namespace assay::measure
