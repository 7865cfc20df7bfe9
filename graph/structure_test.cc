#include "graph/structure.h"

#include "graph/canonical.h"
#include "graph/parse.h"
#include "graph/test_sample.h"
#include "gtest/gtest.h"

namespace assay::graph {
namespace {

std::string Structure(const Sample& sample) {
  const auto graph = Parse(sample);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? StructureHash(*graph) : "";
}

Sample Make(std::string_view parameter, std::string_view shape, std::string_view dtype, std::string_view body,
            std::string_view more = "") {
  return {.model = ModelOf(Cat(parameter, ": torch.Tensor"), body),
          .weight_meta = MetaOf(parameter, shape, dtype, more),
          .info = std::string(kInfo)};
}

TEST(StructureHash, DoesNotDependOnNamesOrContents) {
  const std::string hash = Structure(Make("x", "[2, 3]", "torch.float32", "        y = x + 1\n        return (y,)\n"));
  EXPECT_EQ(hash.size(), 64u);
  EXPECT_EQ(hash, Structure(Make("other", "[2, 3]", "torch.float32", "        z = other + 1\n        return (z,)\n")));
  EXPECT_EQ(hash, Structure(Make("x", "[2, 3]", "torch.float32", "        y = x + 1\n        return (y,)\n",
                                 "    min_val = -1.0\n    max_val = 1.0\n")));
}

TEST(StructureHash, DependsOnWhatIsComputed) {
  const std::string hash = Structure(Make("x", "[2, 3]", "torch.float32", "        y = x + 1\n        return (y,)\n"));
  EXPECT_NE(hash, Structure(Make("x", "[6]", "torch.float32", "        y = x + 1\n        return (y,)\n")));
  EXPECT_NE(hash, Structure(Make("x", "[2, 3]", "torch.float64", "        y = x + 1\n        return (y,)\n")));
  EXPECT_NE(hash, Structure(Make("x", "[2, 3]", "torch.float32", "        y = x + 1.0\n        return (y,)\n")));
  EXPECT_NE(hash, Structure(Make("x", "[2, 3]", "torch.float32", "        y = x * 1\n        return (y,)\n")));
  EXPECT_NE(hash, Structure(Make("x", "[2, 3]", "torch.float32", "        y = x + 1\n        return (y, x)\n")));
}

TEST(StructureHash, DoesNotDependOnSizesAndOtherNumbers) {
  const std::string hash = Structure(Make("x", "[2, 3]", "torch.float32", "        y = x + 1\n        return (y,)\n"));
  EXPECT_EQ(hash, Structure(Make("x", "[20, 3]", "torch.float32", "        y = x + 1\n        return (y,)\n")));
  EXPECT_EQ(hash, Structure(Make("x", "[2, 3]", "torch.float32", "        y = x + 2\n        return (y,)\n")));
}

TEST(StructureHash, OfTheReprintIsTheSame) {
  const auto graph = Parse(FullSample());
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(StructureHash(*graph), Structure(Canonical(*graph)));
}

}  // namespace
}  // namespace assay::graph
