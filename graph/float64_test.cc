#include "graph/float64.h"

#include "gmock/gmock.h"
#include "graph/canonical.h"
#include "graph/parse.h"
#include "graph/test_sample.h"

namespace assay::graph {
namespace {

using testing::HasSubstr;
using testing::Not;

absl::StatusOr<Graph> Widen(std::string_view body, std::string_view dtype = "torch.float32") {
  Sample sample = SampleWithBody(body);
  sample.weight_meta = MetaOf("x", "[2, 3]", dtype);
  absl::StatusOr<Graph> graph = Parse(sample);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? InFloat64(*graph) : graph;
}

TEST(InFloat64, WidensParametersAndEveryDTypeThatTheTextNames) {
  for (const char* dtype : {"torch.float16", "torch.bfloat16", "torch.float32", "torch.float64"}) {
    const auto graph = Widen(
        "        a = x.float()\n"
        "        b = a.to(torch.float16)\n"
        "        c = torch.nn.functional.softmax(b, dim = -1, dtype = torch.bfloat16)\n"
        "        d = c.to(torch.int32)\n"
        "        e = torch.zeros(2, 3, dtype = torch.complex64)\n"
        "        f = torch.nn.functional.dropout(x, 0.1, False, False)\n"
        "        g = torch._C._nn.scaled_dot_product_attention(x, x, x, None, 0.0, True)\n"
        "        h = x.view(3, 2)\n"
        "        i = h.half()\n"
        "        j = i.bfloat16()\n"
        "        return (d, e, f, g, h, j)\n",
        dtype);
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(graph->parameters[0].meta.dtype, DType::kFloat64);
    const std::string text = CanonicalModel(*graph);
    for (const char* narrow : {"float16", "float32", ".float(", ".half(", "complex64"}) EXPECT_THAT(text, Not(HasSubstr(narrow)));
    EXPECT_THAT(text, HasSubstr("torch.complex128"));
    EXPECT_THAT(text, HasSubstr("torch.int32")) << "integers stay";
    // Runners read what is printed: it is a graph of the same grammar.
    const Sample sample = Canonical(*graph);
    const auto again = Parse(sample);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(CanonicalModel(*again), text);
  }
  const auto integers = Widen("        y = x + 1\n        return (y,)\n", "torch.int64");
  ASSERT_TRUE(integers.ok());
  EXPECT_EQ(integers->parameters[0].meta.dtype, DType::kInt64);
}

TEST(InFloat64, AutocastStaysAsItIsWritten) {
  const auto graph = Widen(
      "        _enter_autocast = torch.amp.autocast_mode._enter_autocast('cpu', torch.bfloat16, True, True)\n"
      "        y = x * 2\n"
      "        _exit_autocast = torch.amp.autocast_mode._exit_autocast(_enter_autocast)\n"
      "        return (y,)\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(CanonicalModel(*graph), HasSubstr("torch.bfloat16"));
}

TEST(InFloat64, SaysWhyThereIsNone) {
  const auto why = [](std::string_view body, std::string_view dtype = "torch.float32") {
    return std::string(Widen(body, dtype).status().message());
  };
  EXPECT_THAT(why("        y = torch.rand(2, 3)\n        z = x + y\n        return (z,)\n"),
              HasSubstr("random numbers"));
  EXPECT_THAT(why("        y = torch.nn.functional.dropout(x)\n        return (y,)\n"), HasSubstr("random numbers"));
  EXPECT_THAT(why("        y = torch.nn.functional.dropout(x, 0.5, True, False)\n        return (y,)\n"),
              HasSubstr("random numbers"));
  EXPECT_THAT(
      why("        y = torch._C._nn.scaled_dot_product_attention(x, x, x, dropout_p = 0.1)\n        return (y,)\n"),
      HasSubstr("random numbers"));
  EXPECT_THAT(why("        y = x.view(torch.int32)\n        return (y,)\n"), HasSubstr("reads the bits"));
  EXPECT_THAT(why("        y = x.to(torch.float8_e4m3fn)\n        return (y,)\n"), HasSubstr("it names float8_e4m3fn"));
  EXPECT_THAT(why("        y = x.to(torch.int32)\n        return (y,)\n", "torch.float8_e5m2"),
              HasSubstr("parameter x is float8_e5m2"));
}

}  // namespace
}  // namespace assay::graph
