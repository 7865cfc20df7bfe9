#include "graph/parse.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "graph/callees.h"
#include "graph/test_sample.h"

namespace assay::graph {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// Parses and expects a refusal at this place whose message holds `text`.
void ExpectRefused(const Sample& sample, std::string_view file, int line, int column, std::string_view text,
                   absl::StatusCode code = absl::StatusCode::kInvalidArgument, const Limits& limits = {}) {
  SCOPED_TRACE(std::string(text));
  const absl::StatusOr<Graph> graph = Parse(sample, limits);
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().code(), code) << graph.status();
  const std::optional<Diagnostic> diagnostic = DiagnosticOf(graph.status());
  ASSERT_TRUE(diagnostic.has_value()) << graph.status();
  EXPECT_EQ(diagnostic->file, file) << graph.status();
  EXPECT_EQ(diagnostic->line, line) << graph.status();
  EXPECT_EQ(diagnostic->column, column) << graph.status();
  EXPECT_THAT(diagnostic->message, HasSubstr(text));
}

void ExpectBodyRefused(std::string_view body, int line, int column, std::string_view text,
                       absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  // The body begins on line 9.
  ExpectRefused(SampleWithBody(body), "model.py", line, column, text, code);
}

TEST(ParseTest, ReadsEveryForm) {
  const absl::StatusOr<Graph> graph = Parse(FullSample());
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_THAT(graph->parameters, SizeIs(4));
  EXPECT_EQ(graph->parameters[1].annotation, Annotation::kParameter);
  EXPECT_EQ(graph->parameters[2].annotation, Annotation::kSymInt);
  EXPECT_EQ(graph->parameters[3].meta.shape, std::vector<int64_t>{4});
  EXPECT_EQ(graph->parameters[0].meta.std, 1.25);
  EXPECT_EQ(graph->parameters[1].meta.min_val, 0.0);
  EXPECT_FALSE(graph->parameters[1].meta.max_val.has_value());
  // Numbers of data are kept as the dtype says.
  EXPECT_EQ(std::get<bool>((*graph->parameters[3].meta.data)[2]), true);
  EXPECT_EQ(graph->info.model_name, "made/up");
  EXPECT_EQ(graph->parameter_bytes(), 4 * 8 * 4 + 8 * 8 * 2 + 8 + 4);

  const Operation& linear = graph->operations[0];
  EXPECT_EQ(linear.callee->name, "torch._C._nn.linear");
  EXPECT_EQ(linear.result, 4);
  EXPECT_EQ(linear.location.line, 19);
  EXPECT_EQ(linear.positional, (std::vector<Argument>{{ValueRef{0}}, {ValueRef{1}}, {NoneLiteral{}}}));

  const Operation& getitem = graph->operations[2];
  EXPECT_EQ(getitem.callee->name, "operator:getitem");
  const SliceLiteral all{{{NoneLiteral{}}, {NoneLiteral{}}, {NoneLiteral{}}}};
  const SliceLiteral some{{{int64_t{0}}, {ValueRef{2}}, {NoneLiteral{}}}};
  EXPECT_EQ(getitem.positional[1].v, (decltype(Argument::v){Sequence{true, {{all}, {some}, {NoneLiteral{}}}}}));

  const Operation& setitem = graph->operations[5];
  EXPECT_EQ(setitem.callee->name, "operator:setitem");
  EXPECT_EQ(setitem.result, -1);
  EXPECT_EQ(graph->value_count, 4 + static_cast<int>(graph->operations.size()) - 2);
}

// `y += 1` makes a new value for y; an alias of the old y keeps the old one.
TEST(ParseTest, AugmentedAssignmentTakesOverTheName) {
  const absl::StatusOr<Graph> graph = Parse(SampleWithBody(R"(        y = x.contiguous()
        alias = y
        y += 1
        z = y
        return (alias, z)
)"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_THAT(graph->operations, SizeIs(2));
  EXPECT_EQ(graph->operations[1].positional[0].v, (decltype(Argument::v){ValueRef{1}}));
  EXPECT_EQ(graph->outputs, (std::vector<int32_t>{1, 2}));
}

TEST(ParseTest, FoldsNegativeNumbersAndNamesDevices) {
  const absl::StatusOr<Graph> graph = Parse(SampleWithBody(R"(        a = x.sum(-1)
        b = torch.zeros(2, device=torch.device("cuda", 0))
        c = torch.full((), -torch.inf, device=device("cpu"))
        d = torch.zeros(2, device="cuda:1")
        return (a, b, c, d)
)"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(std::get<int64_t>(graph->operations[0].positional[1].v), -1);
  EXPECT_EQ(std::get<double>(graph->operations[2].positional[1].v), -std::numeric_limits<double>::infinity());
  for (const int i : {1, 2, 3}) {
    EXPECT_TRUE(std::holds_alternative<DevicePlaceholder>(graph->operations[i].keyword[0].value.v)) << i;
  }
}

TEST(ParseTest, AcceptsCarriageReturnsBeforeLineFeeds) {
  std::string model;
  for (const char c : FullSample().model) model += c == '\n' ? "\r\n" : std::string(1, c);
  Sample sample = FullSample();
  sample.model = model;
  EXPECT_TRUE(Parse(sample).ok()) << Parse(sample).status();
}

TEST(ParseTest, ParsesAModelAlone) {
  const absl::StatusOr<Graph> graph = ParseModel(FullSample().model);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->parameters[0].meta.name, "L_x_");
}

TEST(ParseTest, RefusesWhatWouldExecute) {
  ExpectBodyRefused("        y = __import__(\"os\")\n        return (y,)\n", 9, 13, "'__import__'");
  ExpectBodyRefused("        __import__('os').system('ls')\n", 9, 19, "found '('");
  ExpectBodyRefused("        y = eval(\"1\")\n        return (y,)\n", 9, 13, "'eval'");
  ExpectBodyRefused("        y = torch.hub.load(\"a\", \"b\")\n        return (y,)\n", 9, 13, "'torch.hub.load'");
  ExpectBodyRefused("        y = x.__class__\n        return (y,)\n", 9, 13, "'getattr:.__class__'");
  ExpectBodyRefused("        y = os.path(x)\n", 9, 13, "'os' is used before");
  ExpectBodyRefused("        import os\n", 9, 9, "found 'import'");
  ExpectBodyRefused("        y = lambda: 1\n", 9, 13, "'lambda'");
  ExpectBodyRefused("        y = [i for i in x]\n", 9, 14, "'i' is used before");
  ExpectBodyRefused("        y = f\"{x}\"\n", 9, 13, "'f' is used before");
  ExpectBodyRefused("        y = x if x else x\n", 9, 15, "found 'if'");
  ExpectBodyRefused("        y = x; z = x\n", 9, 14, "no place in the grammar");
  ExpectBodyRefused("        y = torch.relu(*x)\n", 9, 24, "found '*'");
  ExpectBodyRefused("        @x\n", 9, 9, "found '@'");
  ExpectBodyRefused("\ty = x\n", 9, 1, "tabs are not accepted");
  ExpectBodyRefused("        y = x\\\n", 9, 14, "no place in the grammar");
  ExpectBodyRefused("        y = \"\"\"a\"\"\"\n", 9, 13, "three quotes");
  ExpectBodyRefused("        y = \"\xc3\xa4\"\n", 9, 13, "printable ASCII");
  ExpectBodyRefused("        y = \"\\x41\"\n", 9, 13, "escapes");
  ExpectBodyRefused("        torch = x\n", 9, 9, "found 'torch'");
}

TEST(ParseTest, SuggestsTheNearestCallee) {
  ExpectBodyRefused("        y = torch.nn.functional.rellu(x)\n", 9, 13, "'torch.nn.functional.relu'");
  ExpectBodyRefused("        y = x.transpos(0, 1)\n", 9, 13, "the nearest known one is '.transpose'");
}

TEST(ParseTest, RefusesWrongArguments) {
  ExpectBodyRefused("        y = torch.tanh()\n", 9, 13, "argument 'self' is missing");
  ExpectBodyRefused("        y = torch.tanh(x, x)\n", 9, 13, "at most 1 positional");
  ExpectBodyRefused("        y = torch.tanh(x, foo=1)\n", 9, 13, "no argument named 'foo'");
  ExpectBodyRefused("        y = torch.cat((x,), 0, dim=0)\n", 9, 13, "'dim' is given twice");
  ExpectBodyRefused("        y = torch.cat((x,), dim=0, dim=0)\n", 9, 36, "'dim' is given twice");
  ExpectBodyRefused("        y = torch.cat(dim=0, (x,))\n", 9, 30, "may not follow a keyword");
  ExpectBodyRefused("        y = x.view()\n", 9, 13, "argument 'size' is missing");
  ExpectBodyRefused("        y = x[slice(1, 2)]\n", 9, 20, "three arguments");
  ExpectBodyRefused("        y = x[slice(1, 2.0, None)]\n", 9, 24, "None, an integer or a name");
  ExpectBodyRefused("        y = torch.zeros(2, device=device(\"meta\"))\n", 9, 42, "\"cpu\" or \"cuda\"");
}

TEST(ParseTest, RefusesWrongNames) {
  ExpectBodyRefused("        y = z\n", 9, 13, "'z' is used before anything is assigned");
  ExpectBodyRefused("        x = None\n        return (x,)\n", 10, 17, "'x' is used after it was set to None");
  ExpectBodyRefused("        z += 1\n", 9, 9, "'z' is used before");
  ExpectBodyRefused("        z[0] = 1\n", 9, 9, "'z' is used before");
  ExpectRefused({.model = ModelOf("x: torch.Tensor, x: torch.Tensor", "        return (x,)\n")}, "model.py", 8, 40,
                "'x' is declared twice");
  ExpectRefused({.model = ModelOf("device: torch.Tensor", "        return (device,)\n")}, "model.py", 8, 23,
                "may not be named");
  ExpectRefused({.model = ModelOf("x: torch.Generator", "        return (x,)\n")}, "model.py", 8, 26, "'torch.SymInt'");
}

TEST(ParseTest, RefusesNestedOperations) {
  ExpectBodyRefused("        y = x + x + x\n", 9, 19, "name the inner result first");
  ExpectBodyRefused("        y = torch.relu(x) + x\n", 9, 13, "name the inner result first");
  ExpectBodyRefused("        y = torch.relu(torch.relu(x))\n", 9, 24, "name the inner result first");
  ExpectBodyRefused("        y = torch.relu(x + x)\n", 9, 26, "expected ',' or ')', found '+'");
  ExpectBodyRefused("        y = -2 ** x\n", 9, 13, "must stand in parentheses");
  ExpectBodyRefused("        y = 5\n", 9, 13, "a literal is not assigned");
  ExpectBodyRefused("        y = z = x\n", 9, 17, "expected None after several '='");
}

TEST(ParseTest, RefusesNumbersOutOfRange) {
  ExpectBodyRefused("        y = x + 9223372036854775808\n", 9, 17, "does not fit 64 bits");
  ExpectBodyRefused("        y = x + 1e999\n", 9, 17, "does not fit a 64-bit float");
  ExpectBodyRefused("        y = x + 0x10\n", 9, 17, "plain decimal");
  ExpectBodyRefused("        y = x + 1_0\n", 9, 17, "plain decimal");
  ExpectBodyRefused("        y = x + 007\n", 9, 17, "may not begin with 0");
  EXPECT_TRUE(Parse(SampleWithBody("        y = x + -9223372036854775808\n        return (y,)\n")).ok());
  const absl::StatusOr<Graph> tiny = Parse(SampleWithBody("        y = x + 1e-999\n        return (y,)\n"));
  ASSERT_TRUE(tiny.ok()) << tiny.status();
  EXPECT_EQ(std::get<double>(tiny->operations[0].positional[1].v), 0.0);
}

TEST(ParseTest, RefusesABrokenFrame) {
  ExpectRefused({}, "model.py", 1, 1, "expected 'import torch', found the end of the file");
  ExpectRefused({.model = "import os\n"}, "model.py", 1, 8, "expected 'torch', found 'os'");
  ExpectRefused({.model = "import torch\nfrom torch import load\n"}, "model.py", 2, 19, "'device' or 'inf'");
  ExpectRefused({.model = "import torch\nclass A(torch.nn.Module):\n"}, "model.py", 2, 7, "'GraphModule'");
  ExpectRefused({.model = "import torch\nprint(1)\n"}, "model.py", 2, 1, "found 'print'");
  ExpectBodyRefused("        return x\n", 9, 16, "a tuple of names");
  ExpectBodyRefused("        return (x)\n", 9, 18, "a tuple of one is written (x,)");
  ExpectBodyRefused("        return ()\n", 9, 17, "at least one name");
  ExpectBodyRefused("        return (x,)\n        y = x\n", 10, 9, "after 'return'");
  ExpectBodyRefused("        y = x\n      return (y,)\n", 10, 7, "a statement at column 9");
  ExpectBodyRefused("    return (x,)\n", 9, 5, "indented more than 'def'");
}

// Cut anywhere, a sample is refused and the place is known.
TEST(ParseTest, RefusesATruncatedFile) {
  const Sample sample = FullSample();
  const size_t end = sample.model.rfind(')');
  for (size_t size = 0; size < end; ++size) {
    Sample cut = sample;
    cut.model.resize(size);
    const absl::StatusOr<Graph> graph = Parse(cut);
    ASSERT_FALSE(graph.ok()) << size;
    ASSERT_TRUE(DiagnosticOf(graph.status()).has_value()) << graph.status();
  }
  Sample cut = sample;
  cut.model.resize(sample.model.find("        y += 1"));
  ExpectRefused(cut, "model.py", 32, 1, "expected a statement or 'return (…,)', found the end of the file");
}

TEST(ParseTest, BoundsLinesFilesAndDepth) {
  const auto exhausted = absl::StatusCode::kResourceExhausted;
  ExpectBodyRefused("        y = x + \"" + std::string(10 << 20, 'a') + "\"\n", 9, 1, "limit of 1048576", exhausted);
  ExpectBodyRefused("        y = x.view(" + std::string(10000, '(') + "\n", 9, 35, "nest deeper than the limit of 16",
                    exhausted);
  ExpectBodyRefused("        y = " + std::string(10000, '[') + "\n", 9, 29, "nest deeper than the limit of 16",
                    exhausted);
  ExpectBodyRefused("        y = " + std::string(5000, 'a') + "\n", 9, 13, "a name has at most 4096 bytes");
  Limits small;
  small.file_bytes = 100;
  ExpectRefused(FullSample(), "model.py", 0, 0, "limit of 100", exhausted, small);
  small = {};
  small.operations = 3;
  ExpectRefused(FullSample(), "model.py", 27, 13, "more operations than the limit of 3", exhausted, small);
  small = {};
  small.parameters = 2;
  ExpectRefused(FullSample(), "model.py", 11, 9, "more parameters than the limit of 2", exhausted, small);
  small = {};
  small.total_bytes = 200;
  ExpectRefused(FullSample(), "weight_meta.py", 10, 7, "limit of 200", exhausted, small);
}

// A statement's time must not grow with the file: 4 times the text in far less than 16 times the time.
TEST(ParseTest, IsLinear) {
  const auto cpu_time = [](int statements) {
    std::string body;
    for (int i = 0; i < statements; ++i) {
      const std::string name = Cat("a_rather_long_name_of_a_value_", i);
      body += Cat("        ", name, " = torch.relu(x)\n        ", name, " = other_", i, " = None\n");
    }
    const Sample sample = SampleWithBody(body + "        return (x,)\n");
    double best = 1e9;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const std::clock_t begin = std::clock();
      EXPECT_TRUE(Parse(sample).ok());
      best = std::min(best, static_cast<double>(std::clock() - begin));
    }
    return best;
  };
  EXPECT_LT(cpu_time(40000), 12 * cpu_time(10000));
}

TEST(MetaTest, RefusesWrongDescriptions) {
  const auto refused = [](std::string_view meta, int line, int column, std::string_view text,
                          absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
    Sample sample = SampleWithBody("        return (x,)\n");
    sample.weight_meta = meta;
    ExpectRefused(sample, "weight_meta.py", line, column, text, code);
  };
  const auto exhausted = absl::StatusCode::kResourceExhausted;
  refused(MetaOf("x", "[1024, 1024, 1024, 1024]"), 1, 7, "more bytes than the limit", exhausted);
  refused(MetaOf("x", "[9223372036854775807, 9223372036854775807]"), 1, 7, "more bytes than the limit", exhausted);
  refused(MetaOf("x", "[0, 9223372036854775807]"), 1, 7, "more bytes than the limit", exhausted);
  refused(MetaOf("x", "[9223372036854775808]"), 3, 14, "does not fit 64 bits");
  refused(MetaOf("x", "[-1]"), 3, 14, "a size, an integer of at least 0");
  refused(MetaOf("x", "[" + std::string(66, '1') + "]"), 3, 14, "does not fit");
  refused(MetaOf("x",
                 "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"),
          3, 110, "more dimensions", exhausted);
  refused(MetaOf("x", "[2]", "torch.float33"), 4, 13, "unknown dtype 'torch.float33'");
  refused(MetaOf("x", "[2]", "torch.float32", "    data = [1.0]"), 1, 7, "'data' has 1 numbers, the shape means 2");
  refused(MetaOf("x", "[2]", "torch.float32", "    data = [[1.0], [2.0]]"), 8, 13, "expected a number");
  refused(MetaOf("x", "[1]", "torch.int8", "    data = [200]"), 1, 7, "not a value of int8");
  refused(MetaOf("x", "[1]", "torch.int64", "    data = [float(\"nan\")]"), 1, 7, "not a value of int64");
  refused(MetaOf("x", "[1]", "torch.uint8", "    min_val = -1\n    max_val = 3"), 1, 7, "'min_val' is not a value");
  refused(MetaOf("x", "[1]", "torch.int64", "    min_val = 4\n    max_val = 3"), 1, 7, "greater than");
  refused(MetaOf("x", "[1]", "torch.float32", "    colour = 3"), 8, 5, "expected one of name");
  refused(MetaOf("x", "[1]", "torch.float32", "    mean = 3"), 8, 5, "'mean' is given twice");
  refused(MetaOf("x", "[1]", "torch.float32", "    data = float(\"1\")"), 8, 12, "None or '['");
  refused("class A:\n    name = \"x\"\n    shape = []\n", 1, 7, "no 'dtype'");
  refused("class A:\n    name = \"x\"\n     shape = []\n", 3, 6, "an attribute at column 5");
  refused("weight_meta = {}\n", 1, 1, "'class NAME:'");
  refused(MetaOf("x") + MetaOf("x"), 10, 7, "described twice");
  refused(MetaOf("x") + MetaOf("y"), 10, 7, "'y' is not a parameter");
}

TEST(MetaTest, RefusesAParameterWithoutOne) {
  Sample sample = SampleWithBody("        return (x,)\n");
  sample.weight_meta = "";
  ExpectRefused(sample, "model.py", 8, 23, "'x' has no class in weight_meta.py or input_meta.py");
  sample.model = ModelOf("x: torch.SymInt", "        return (x,)\n");
  sample.weight_meta = MetaOf("x", "[]");
  ExpectRefused(sample, "weight_meta.py", 1, 7, "must be one integer");
}

TEST(MetaTest, ComesInAnyOrder) {
  Sample sample = SampleWithBody("        return (a,)\n");
  sample.model = ModelOf("a: torch.Tensor, b: torch.Tensor, c: torch.Tensor", "        return (a,)\n");
  std::vector<std::string> names = {"a", "b", "c"};
  do {
    sample.weight_meta.clear();
    for (const std::string& name : names)
      sample.weight_meta += MetaOf(name, name == "a" ? "[1]" : name == "b" ? "[2]" : "[3]");
    const Graph graph = MustParse(sample);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(graph.parameters[i].meta.shape, std::vector<int64_t>{i + 1});
  } while (std::next_permutation(names.begin(), names.end()));
  // One that was jumped over, and one that comes again after others.
  sample.weight_meta = MetaOf("b") + MetaOf("c");
  ExpectRefused(sample, "model.py", 8, 23, "'a' has no class");
  sample.weight_meta = MetaOf("a") + MetaOf("b") + MetaOf("a");
  ExpectRefused(sample, "weight_meta.py", 19, 7, "'a' is described twice");
}

TEST(LimitsTest, ALineMayHaveSoManyBytesAndNoMore) {
  const Limits limits{.line_bytes = 100};
  Sample sample = SampleWithBody("        return (x,)\n");
  // Comments of these lengths behind the first line.
  const auto with = [model = sample.model](std::initializer_list<size_t> lengths) {
    std::string text = "import torch\n";
    for (const size_t length : lengths) text += "#" + std::string(length - 1, '-') + "\n";
    return text + model.substr(model.find('\n') + 1);
  };
  for (const auto& lengths : {std::initializer_list<size_t>{100}, {99, 100, 100, 1}, {1, 98, 2, 100, 50, 50, 51}}) {
    sample.model = with(lengths);
    EXPECT_TRUE(Parse(sample, limits).ok()) << Parse(sample, limits).status();
  }
  int line = 2;
  for (const auto& lengths : {std::initializer_list<size_t>{101}, {100, 101, 3}, {50, 40, 250, 100}}) {
    sample.model = with(lengths);
    ExpectRefused(sample, "model.py", line++, 1, "more than the limit of 100", absl::StatusCode::kResourceExhausted,
                  limits);
  }
}

TEST(InfoTest, RefusesWrongJson) {
  const auto refused = [](std::string_view info, int line, int column, std::string_view text) {
    Sample sample = SampleWithBody("        return (x,)\n");
    sample.info = info;
    ExpectRefused(sample, "graph_net.json", line, column, text);
  };
  refused("", 1, 1, "cut off");
  refused("{\"framework\":\n  torch}", 2, 3, "not JSON");
  refused("{\"framework\": \"torch\"", 1, 22, "cut off");
  refused("{} {}", 1, 4, "expected the end of the file");
  refused("[]", 0, 0, "expected a JSON object");
  refused("{}", 0, 0, "'framework' must be \"torch\" or \"stablehlo\"");
  refused("{\"framework\": \"paddle\"}", 0, 0, "'framework' must be \"torch\" or \"stablehlo\", found 'paddle'");
  refused("{\"framework\": \"torch\", \"num_devices_required\": 8}", 0, 0, "'num_devices_required' must be 1");
  refused("{\"framework\": \"torch\", \"source\": 8}", 0, 0, "'source' must be a string");
  refused(std::string(100000, '['), 1, 17, "not JSON");
}

TEST(LastUsesTest, ListsEachValueOnce) {
  const absl::StatusOr<Graph> graph = Parse(SampleWithBody(R"(        a = torch.relu(x)
        b = a + a
        unused = torch.tanh(b)
        c = torch.cat([b, x], dim=0)
        return (c, a)
)"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(LastUses(*graph), (std::vector<std::vector<int32_t>>{{}, {}, {3}, {0, 2}}));
}

}  // namespace
}  // namespace assay::graph
