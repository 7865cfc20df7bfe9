#include "graph/prefix.h"

#include "gmock/gmock.h"
#include "graph/canonical.h"
#include "graph/parse.h"
#include "graph/test_sample.h"

namespace assay::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Graph WithBody(std::string_view body) { return MustParse(SampleWithBody(body)); }

// The body of the prefix in canonical form, which must be a sample that is accepted.
std::string Body(const Prefix& prefix) {
  EXPECT_EQ(prefix.is_result.size(), prefix.graph.outputs.size());
  const Sample sample = Canonical(prefix.graph);
  const absl::StatusOr<Graph> again = Parse(sample);
  EXPECT_TRUE(again.ok()) << again.status() << "\n" << sample.model;
  if (again.ok()) EXPECT_EQ(Canonical(*again).model, sample.model);
  return sample.model.substr(sample.model.find("    ):\n") + 7);
}

TEST(PrefixTest, ReturnsWhatTheRestNeeds) {
  const Graph graph = WithBody(R"(        a = torch.cos(x)
        b = torch.sin(a)
        c = torch.exp(a)
        d = b + c
        return (d,)
)");
  const GraphCutter cutter(graph);
  EXPECT_THAT(cutter.cuts(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(Body(cutter.At(0, 1, false)), "        v1 = torch.cos(x)\n        x = None\n        return (v1,)\n");
  const Prefix two = cutter.At(1, 2, false);
  EXPECT_THAT(Body(two), HasSubstr("return (v1, v2)"));
  EXPECT_THAT(two.is_result, ElementsAre(false, true));
  // The whole one is the graph itself.
  EXPECT_EQ(Hash(cutter.At(3, 4, false).graph), Hash(graph));
}

TEST(PrefixTest, OperandsAreReturnedToo) {
  const Graph graph = WithBody(R"(        a = torch.cos(x)
        b = torch.sin(a)
        c = b + x
        return (c,)
)");
  const GraphCutter cutter(graph);
  const Prefix two = cutter.At(1, 2, true);
  EXPECT_THAT(Body(two), HasSubstr("return (v2, v1)"));
  EXPECT_THAT(two.is_result, ElementsAre(true, false));
  // Not parameters, which nothing computes.
  EXPECT_THAT(Body(cutter.At(0, 1, true)), HasSubstr("return (v1,)"));
  EXPECT_THAT(Body(cutter.At(1, 3, true)), HasSubstr("return (v3, v1)"));
}

TEST(PrefixTest, HasOnlyTheParametersThatItUses) {
  Sample sample;
  sample.model = ModelOf("x: torch.Tensor, w: torch.nn.parameter.Parameter, u: torch.nn.parameter.Parameter",
                         "        a = torch.cos(w)\n        b = a + u\n        c = b + x\n        return (c,)\n");
  sample.weight_meta = MetaOf("x") + MetaOf("w") + MetaOf("u");
  sample.info = kInfo;
  const Graph graph = MustParse(sample);
  const GraphCutter cutter(graph);
  const Prefix one = cutter.At(0, 1, false), two = cutter.At(1, 2, false);
  ASSERT_EQ(one.graph.parameters.size(), 1u);
  EXPECT_EQ(one.graph.parameters[0].name, "w");
  ASSERT_EQ(two.graph.parameters.size(), 2u);
  EXPECT_THAT(Body(two), HasSubstr("v3 = v2 + u"));
}

TEST(PrefixTest, OfTuplesTheElementsThatAreTakenLater) {
  const Graph graph = WithBody(R"(        t = torch.chunk(x, 2)
        a = t[0]
        b = t[1]
        m = torch.max(a, -1, True)
        i = m[1]
        n = torch.max(a, b)
        c = n + b
        return (c, i)
)");
  const GraphCutter cutter(graph);
  EXPECT_THAT(cutter.cuts(), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  const Prefix one = cutter.At(0, 1, false);
  EXPECT_THAT(Body(one), HasSubstr("v2 = v1[0]\n        v3 = v1[1]\n"));
  EXPECT_THAT(one.is_result, ElementsAre(true, true));
  // The tuple's second element is of the operation before; the first one is this operation's.
  const Prefix two = cutter.At(1, 2, false);
  EXPECT_THAT(Body(two), HasSubstr("return (v2, v3)"));
  EXPECT_THAT(two.is_result, ElementsAre(true, false));
  // Of max along a dimension the indices alone are taken; max of two tensors is one.
  EXPECT_THAT(Body(cutter.At(3, 4, false)), HasSubstr("v5 = v4[1]"));
  EXPECT_THAT(Body(cutter.At(5, 6, false)), Not(HasSubstr("v6[")));
}

TEST(PrefixTest, CannotBeCutWhereATupleIsUsedWhole) {
  const Graph graph = WithBody(R"(        t = torch.functional.split(x, 1)
        y = torch.cos(x)
        c = torch.cat(t)
        d = c + y
        return (d,)
)");
  EXPECT_THAT(GraphCutter(graph).cuts(), ElementsAre(3, 4));
}

TEST(PrefixTest, CannotBeCutWithinAScope) {
  const Graph graph = WithBody(R"(        a = torch.cos(x)
        scope = torch.amp.autocast_mode._enter_autocast("cpu", torch.bfloat16, True, None)
        b = torch.sin(a)
        out = torch.amp.autocast_mode._exit_autocast(scope)
        c = b + a
        return (c,)
)");
  EXPECT_THAT(GraphCutter(graph).cuts(), ElementsAre(1, 4, 5));
}

TEST(PrefixTest, WhatWasWrittenInPlaceIsReturned) {
  const Graph graph = WithBody(R"(        a = torch.cos(x)
        v = x[0]
        v *= 2
        b = a + 1
        x[1] = b
        c = x.sum()
        return (c,)
)");
  const GraphCutter cutter(graph);
  // Before anything is written the parameter is what it was.
  EXPECT_THAT(Body(cutter.At(0, 2, false)), HasSubstr("return (v1, v2)"));
  // `v *= 2` writes to x, which is used again; any value may be another name of what was written.
  const Prefix three = cutter.At(2, 3, true);
  EXPECT_THAT(Body(three), HasSubstr("return (x, v1)"));
  EXPECT_THAT(three.is_result, ElementsAre(true, true));
  EXPECT_THAT(Body(cutter.At(4, 5, true)), HasSubstr("return (x, v4)"));
}

TEST(PrefixTest, SizesAndUnwrittenMemoryAreNotReturned) {
  const Graph graph = WithBody(R"(        s = x.size()
        n = s[0]
        e = torch.empty(2, 3)
        f = e.fill_(n)
        g = f + e
        return (g,)
)");
  const GraphCutter cutter(graph);
  EXPECT_THAT(cutter.cuts(), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(Body(cutter.At(2, 3, false)), HasSubstr("return (v2,)"));
  EXPECT_THAT(Body(cutter.At(3, 4, false)), HasSubstr("return (v4,)"));
}

TEST(PrefixTest, CutsOfASampleWithEveryFormAreSamples) {
  const Graph graph = MustParse(FullSample());
  const GraphCutter cutter(graph);
  EXPECT_GT(cutter.cuts().size(), graph.operations.size() / 2);
  size_t previous = 0;
  for (const size_t cut : cutter.cuts()) {
    for (const bool operands : {false, true}) {
      const Prefix prefix = cutter.At(previous, cut, operands);
      EXPECT_FALSE(Body(prefix).empty());
      EXPECT_GE(prefix.graph.operations.size(), cut);
    }
    previous = cut;
  }
}

}  // namespace
}  // namespace assay::graph
