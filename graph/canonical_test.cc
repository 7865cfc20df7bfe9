#include "graph/canonical.h"

#include <cmath>
#include <random>

#include "gmock/gmock.h"
#include "graph/callees.h"
#include "graph/graph_difference.h"
#include "graph/signature.h"
#include "graph/test_sample.h"

namespace assay::graph {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void ExpectRoundTrip(const Graph& graph) {
  const Sample canonical = Canonical(graph);
  const absl::StatusOr<Graph> again = Parse(canonical);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << canonical.model;
  EXPECT_EQ(Difference(graph, *again), "") << canonical.model;
  const Sample twice = Canonical(*again);
  EXPECT_EQ(twice.model, canonical.model);
  EXPECT_EQ(twice.weight_meta, canonical.weight_meta);
  EXPECT_EQ(twice.info, canonical.info);
  EXPECT_EQ(Hash(graph), HashOfCanonical(twice));
}

TEST(CanonicalTest, RoundTrips) { ExpectRoundTrip(MustParse(FullSample())); }

// Pins the form: where this text changes, kCanonicalVersion must change too.
TEST(CanonicalTest, HasThisForm) {
  Sample sample = SampleWithBody(R"(        y = torch.nn.functional.relu((x), inplace = True)
        x = None
        z = y[(slice(None, 3, None), None)]
        z[0,] = 1e22
        p = (-2.50) ** z
        w = torch.zeros((1,), [ ], dtype=torch.int64, device=device(type='cuda', index=0))
        u = torch.full((), -inf)
        return (p, z)
)");
  sample.weight_meta = MetaOf("x", "[2]", "torch.int64", "    min_val = 0\n    max_val = 7\n    data = [1.0, -2]\n");
  const Sample canonical = Canonical(MustParse(sample));
  EXPECT_EQ(canonical.model, R"(import torch
from torch import device
from torch import inf


class GraphModule(torch.nn.Module):
    def forward(
        self,
        x: torch.Tensor,
    ):
        v1 = torch.nn.functional.relu(x, inplace=True)
        x = None
        v2 = v1[slice(None, 3, None), None]
        v1 = None
        v2[0,] = 1e+22
        v3 = (-2.5) ** v2
        v4 = torch.zeros((1,), [], dtype=torch.int64, device=device(type="cpu"))
        v4 = None
        v5 = torch.full((), -inf)
        v5 = None
        return (v3, v2)
)");
  EXPECT_EQ(canonical.weight_meta, R"(class Program_weight_tensor_meta_x:
    name = "x"
    shape = [2]
    dtype = "torch.int64"
    device = "cpu"
    mean = 0.5
    std = 1.25
    min_val = 0
    max_val = 7
    data = [1, -2]
)");
  EXPECT_EQ(canonical.info, "{\"framework\": \"torch\", \"num_devices_required\": 1, \"num_nodes_required\": 1}\n");
  EXPECT_EQ(HashOfCanonical(canonical), "166bdd0d5a84caa83651a4cbacbeb5628f520162c35aae07245e2809bbde4c82");
}

TEST(CanonicalTest, KeepsAliasesOfAnAugmentedNameApart) {
  const Graph graph = MustParse(SampleWithBody(R"(        y = x.contiguous()
        alias = y
        y += 1
        return (alias, y)
)"));
  ExpectRoundTrip(graph);
  EXPECT_THAT(Canonical(graph).model, HasSubstr("        v2 = v1\n        v2 += 1\n"));
}

TEST(CanonicalTest, IgnoresSpacesNamesAndOrder) {
  const Graph a = MustParse(SampleWithBody("        y = torch.relu(x)\n        z = y + 1.50\n        return (z,)\n"));
  Sample other = SampleWithBody(
      "        x_1 = x\n        q = (\n            torch.relu( (x_1), )\n        )\n        x_1 = None\n"
      "        r = (q + 15e-1)\n        q = None\n        return (r,)\n");
  other.weight_meta =
      "class A:\n  dtype = \"torch.float32\"\n  data = None\n  std = 125e-2\n  mean = 0.5000\n"
      "  shape = [2, 3,]\n  name = 'x'\n";
  other.info = "{\"framework\": \"torch\"}";
  EXPECT_EQ(Hash(a), Hash(MustParse(other)));
}

TEST(CanonicalTest, HashesDifferentGraphsApart) {
  const Sample base = SampleWithBody("        y = torch.relu(x)\n        return (y,)\n");
  const std::string hash = Hash(MustParse(base));
  EXPECT_EQ(hash.size(), 64u);
  EXPECT_NE(hash, Hash(MustParse(SampleWithBody("        y = torch.tanh(x)\n        return (y,)\n"))));
  EXPECT_NE(hash, Hash(MustParse(SampleWithBody("        y = torch.relu(x)\n        return (y, y)\n"))));
  Sample meta = base;
  meta.weight_meta = MetaOf("x", "[3, 2]");
  EXPECT_NE(hash, Hash(MustParse(meta)));
}

TEST(CanonicalTest, WritesTheDevice) {
  const Graph graph =
      MustParse(SampleWithBody("        y = torch.zeros(2, device=device(\"cpu\"))\n        return (y,)\n"));
  EXPECT_THAT(CanonicalModel(graph, "cuda"), HasSubstr("device=device(type=\"cuda\")"));
  EXPECT_THAT(CanonicalModel(graph), HasSubstr("from torch import device\n"));
  EXPECT_THAT(CanonicalModel(graph), Not(HasSubstr("import inf")));
}

TEST(CanonicalTest, KeepsParametersApartFromValues) {
  Sample sample = SampleWithBody("");
  sample.model = ModelOf("v1: torch.Tensor, v_1: torch.Tensor",
                         "        y = torch.relu(v1)\n        z = torch.add(y, v_1)\n        return (z, v1)\n");
  sample.weight_meta = MetaOf("v1") + MetaOf("v_1");
  const Graph graph = MustParse(sample);
  ExpectRoundTrip(graph);
  EXPECT_THAT(Canonical(graph).model, HasSubstr("v__2 = torch.relu(v1)"));
}

TEST(CanonicalTest, BreaksLongLines) {
  std::string items, data;
  for (int i = 0; i < 30000; ++i) items += "0.1234567890123456, ";
  for (int i = 0; i < 6000; ++i) data += "0.125, ";
  Sample sample = SampleWithBody("        y = torch.cat([" + items + "])\n        return (y,)\n");
  sample.weight_meta = MetaOf("x", "[6000]", "torch.float32", "    data = [" + data + "]\n");
  ExpectRoundTrip(MustParse(sample));
}

// A graph of random operations, arguments and tensors, as text.
class GraphMaker {
 public:
  explicit GraphMaker(uint32_t seed) : random_(seed) {}

  Sample Make() {
    std::string parameters, meta, body;
    const int count = 1 + Below(4);
    for (int i = 0; i < count; ++i) {
      const std::string name = Cat("L_p", i, "_");
      parameters += Cat(name, i % 2 ? ": torch.Tensor, " : ": torch.nn.parameter.Parameter, ");
      meta += RandomMeta(name);
      names_.push_back(name);
    }
    for (int i = 0; i < 30; ++i) body += Statement(i);
    return {.model = ModelOf(parameters, Cat(body, "        return (", Name(), ", ", Name(), ")\n")),
            .weight_meta = meta,
            .info = std::string(kInfo)};
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % n); }
  const std::string& Name() { return names_[Below(static_cast<int>(names_.size()))]; }

  std::string Float() {
    const double value = std::ldexp(static_cast<double>(random_()) - 2147483648.0, Below(200) - 100);
    char buffer[40];
    snprintf(buffer, sizeof(buffer), "%.17g", value);
    const std::string text = buffer;
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }

  std::string RandomMeta(const std::string& name) {
    constexpr std::string_view kDTypes[] = {"torch.float32", "torch.float16", "torch.int64", "torch.bool"};
    const int rows = 1 + Below(3);
    std::string more = Below(2) ? Cat("    min_val = ", -Below(3), "\n") : "";
    if (Below(2)) {
      more += "    data = [";
      for (int i = 0; i < rows; ++i) more += Cat(Below(2) ? "-" : "", Below(100), Below(2) ? ".0, " : ", ");
      more += "]\n";
    }
    return MetaOf(name, Cat("[", rows, "]"), kDTypes[Below(4)], more);
  }

  std::string Value(int depth) {
    switch (Below(depth > 3 ? 9 : 12)) {
      case 0:
        return Cat(Below(1000) - 500);
      case 1:
        return Float();
      case 2:
        return Below(2) ? "True" : "None";
      case 3:
        return Below(2) ? "Ellipsis" : "'a\\\"\\n'";
      case 4:
        return "torch.bfloat16";
      case 5:
        return "device(type='cuda', index=3)";
      case 6:
        return Below(2) ? "-inf" : "inf";
      case 7:
        return Cat("slice(None, ", Below(9), ", ", Name(), ")");
      case 8:
        return Name();
      case 9:
        return Cat("(", Value(depth + 1), ")");
      case 10:
        return Cat("(", Value(depth + 1), ", ", Value(depth + 1), ")");
      default:
        return Cat("[", Value(depth + 1), ",]");
    }
  }

  std::string Arguments(const Callee& callee, bool method) {
    const std::span<const Signature> signatures = SignaturesOf(callee);
    const Signature& signature = signatures[Below(static_cast<int>(signatures.size()))];
    std::string out;
    bool by_name = false;
    for (size_t i = method ? 1 : 0; i < signature.parameters.size(); ++i) {
      const SignatureParameter& parameter = signature.parameters[i];
      by_name = by_name || parameter.keyword_only || Below(3) == 0;
      if (!parameter.default_text.empty() && Below(2)) {
        by_name = true;
        continue;
      }
      if (by_name) out += Cat(parameter.aliases.empty() ? parameter.name : parameter.aliases[0], "=");
      out += Value(0) + ", ";
    }
    return out;
  }

  std::string Statement(int i) {
    const std::string result = Cat("t", i);
    const Callee& callee = Callees()[Below(static_cast<int>(Callees().size()))];
    std::string right;
    switch (callee.kind) {
      case CalleeKind::kFunction:
        right = Cat(callee.name, "(", Arguments(callee, false), ")");
        break;
      case CalleeKind::kMethod:
        right = Cat(Name(), callee.name, "(", Arguments(callee, true), ")");
        break;
      case CalleeKind::kAttribute:
        right = Cat(Name(), callee.name.substr(8));
        break;
      case CalleeKind::kOperator: {
        const std::string_view op = callee.name.substr(9);
        if (op == "setitem") return Cat("        ", Name(), "[", Value(0), ", ", Value(0), "] = ", Value(0), "\n");
        if (op == "getitem") {
          right = Cat(Name(), "[", Value(0), "]");
        } else if (op == "neg" || op == "~") {
          right = Cat(op == "neg" ? "-" : "~", Name());
        } else if (op.size() > 1 && op.back() == '=' && op.find_first_of("=!<>") == op.size() - 1) {
          return Cat("        ", Name(), " ", op, " ", Value(0), "\n");
        } else {
          right = Cat("(", Value(0), ") ", op, " ", Value(0));
        }
      }
    }
    names_.push_back(result);
    std::string text = Cat("        ", result, " = ", Below(2) ? right : Cat("(", right, ")"), "\n");
    if (Below(4) == 0) {
      names_.push_back(result + "_alias");
      text += Cat("        ", result, "_alias = ", result, "\n");
    }
    return text;
  }

  std::mt19937 random_;
  std::vector<std::string> names_;
};

TEST(CanonicalTest, RoundTripsGeneratedGraphs) {
  int parsed = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const Sample sample = GraphMaker(seed).Make();
    const absl::StatusOr<Graph> graph = Parse(sample);
    ASSERT_TRUE(graph.ok()) << graph.status() << "\n" << sample.model << sample.weight_meta;
    ExpectRoundTrip(*graph);
    if (HasFailure()) return;
    ++parsed;
  }
  EXPECT_EQ(parsed, 400);
}

// Damaged samples are refused or are graphs like any other.
TEST(CanonicalTest, RoundTripsWhatIsLeftOfDamagedSamples) {
  std::mt19937 random(7);
  const Sample whole = FullSample();
  constexpr std::string_view kPieces[] = {"(", ")", "[", "]", ",",  "=",    " ",  "\n",
                                          "-", "x", "9", ".", "\"", "None", "\0", "**"};
  int accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    Sample sample = whole;
    std::string* const texts[] = {&sample.model, &sample.model, &sample.weight_meta, &sample.input_meta, &sample.info};
    std::string& text = *texts[random() % 5];
    const size_t at = random() % text.size();
    if (random() % 2) {
      text.erase(at, 1 + random() % 3);
    } else {
      text.insert(at, kPieces[random() % std::size(kPieces)]);
    }
    const absl::StatusOr<Graph> graph = Parse(sample);
    if (!graph.ok()) {
      EXPECT_TRUE(DiagnosticOf(graph.status()).has_value()) << graph.status();
      continue;
    }
    ++accepted;
    ExpectRoundTrip(*graph);
    if (HasFailure()) return;
  }
  EXPECT_GT(accepted, 200);
}

TEST(CanonicalTest, ADeviceThatATextHasNoWordForIsWrittenAsTheHosts) {
  const auto graph = Parse(FullSample());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(CanonicalModel(*graph, "tpu:v5e"), CanonicalModel(*graph, "cpu"));
  EXPECT_NE(CanonicalModel(*graph, "cuda"), CanonicalModel(*graph, "cpu"));
  EXPECT_TRUE(ParseModel(CanonicalModel(*graph, "tpu:v5e")).ok());
}

}  // namespace
}  // namespace assay::graph
