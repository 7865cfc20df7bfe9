// The memory that reading a sample takes, by the counting allocator of the fuzz targets.
#include <gtest/gtest.h>

#include "graph/canonical.h"
#include "graph/safetensors.h"
#include "graph/text.h"
#include "tests/bench/made_samples.h"
#include "tests/fuzz/fuzz.h"

namespace assay::bench {
namespace {

size_t TextBytes(const graph::Sample& sample) {
  return sample.model.size() + sample.weight_meta.size() + sample.input_meta.size() + sample.info.size();
}

size_t PeakOfParse(const graph::Sample& sample, absl::StatusCode code) {
  return fuzz::PeakMemory([&] { EXPECT_EQ(graph::Parse(sample).status().code(), code); });
}

// As compilers write it, and as Assay prints it again, which is shorter.
TEST(ParseMemoryTest, IsLessThanTenTimesTheText) {
  EXPECT_TRUE(graph::Parse(MakeSamples(1)[0]).ok());  // makes the tables
  for (const graph::Sample& sample : MakeSamples(7)) {
    EXPECT_LT(PeakOfParse(sample, absl::StatusCode::kOk), 10 * TextBytes(sample));
    const graph::Sample canonical = graph::Canonical(*graph::Parse(sample));
    EXPECT_LT(PeakOfParse(canonical, absl::StatusCode::kOk), 10 * TextBytes(canonical));
  }
}

// A long list of data, which the parser counts before it reads it.
TEST(ParseMemoryTest, DataTakesTenTimesTheTextToo) {
  std::string data = "0";
  for (int i = 1; i < 100'000; ++i) data += ",0";
  const graph::Sample sample{.model =
                                 "import torch\nclass GraphModule(torch.nn.Module):\n    def forward(self, x: "
                                 "torch.Tensor):\n        return (x,)\n",
                             .weight_meta = graph::Cat("class A:\n    name = \"x\"\n    shape = [100000]\n    dtype = "
                                                       "\"torch.int64\"\n    data = [",
                                                       data, "]\n"),
                             .info = R"({"framework": "torch"})"};
  EXPECT_LT(PeakOfParse(sample, absl::StatusCode::kOk), 10 * TextBytes(sample));
}

// Text that is made to take much: the shortest arguments there are, in one list or a call, and the shortest operations.
TEST(ParseMemoryTest, HostileTextIsRefusedBeforeItTakesTenTimesItself) {
  std::string list = "0", lines;
  for (int i = 1; i < 2'000'000; ++i) list += ",0";
  for (int i = 0; i < 400'000; ++i) lines += "   x=x@x\n";
  const auto model = [](std::string_view body) {
    return graph::Cat("import torch\nclass GraphModule(torch.nn.Module):\n  def forward(self, x: torch.Tensor):\n",
                      body, "   return (x,)\n");
  };
  for (const std::string& text :
       {model(graph::Cat("   y=torch.stack([", list, "])\n")), model(graph::Cat("   y=torch.stack((", list, "))\n")),
        model(graph::Cat("   y=x[", list, "]\n")), model(graph::Cat("   y=x.view(", list, ")\n")), model(lines)}) {
    const graph::Limits limits{.line_bytes = text.size()};
    const size_t peak = fuzz::PeakMemory([&] {
      const absl::Status status = graph::ParseModel(text, limits).status();
      EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    });
    EXPECT_LT(peak, 10 * text.size() + limits.memory_floor);
  }
}

// Below the floor all is taken; a list of that length is longer than any compiler writes.
TEST(ParseMemoryTest, ShortTextsMayBeDense) {
  std::string list = "0";
  for (int i = 1; i < 20'000; ++i) list += ",0";
  const std::string text =
      graph::Cat("import torch\nclass GraphModule(torch.nn.Module):\n  def forward(self, x: torch.Tensor):\n   y=x[",
                 list, "]\n   return (y,)\n");
  EXPECT_TRUE(graph::ParseModel(text).ok());
}

// What text claims is refused before memory is taken for it.
TEST(ParseMemoryTest, ClaimsTakeNone) {
  graph::Sample sample{.model =
                           "import torch\nclass GraphModule(torch.nn.Module):\n    def forward(self, x: torch.Tensor, "
                           "y: torch.Tensor):\n        return (x,)\n",
                       .info = R"({"framework": "torch"})"};
  const auto meta = [](std::string_view name, std::string_view shape, std::string_view more) {
    return graph::Cat("class A:\n    name = \"", name, "\"\n    dtype = \"torch.float64\"\n    shape = ", shape, "\n",
                      more);
  };
  constexpr size_t kSmall = 64 << 10;
  const auto exhausted = absl::StatusCode::kResourceExhausted;
  for (const char* shape :
       {"[4294967296, 4294967296]", "[9223372036854775807]", "[0, 9223372036854775807]", "[9000000000]"}) {
    sample.weight_meta = meta("x", shape, "");
    EXPECT_LT(PeakOfParse(sample, exhausted), kSmall) << shape;
  }
  // Each is within the limit, their sum is not.
  sample.weight_meta = meta("x", "[5000000000]", "") + meta("y", "[5000000000]", "");
  EXPECT_LT(PeakOfParse(sample, exhausted), kSmall);
  // Data that are not there.
  sample.weight_meta = meta("x", "[1000000000]", "    data = [1.0, 2.0]\n");
  EXPECT_LT(PeakOfParse(sample, absl::StatusCode::kInvalidArgument), kSmall);
}

// A header of tensors claims offsets and sizes.
TEST(ParseMemoryTest, TensorHeadersTakeNone) {
  for (const std::string_view json :
       {R"({"x":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
        R"({"x":{"dtype":"F64","shape":[1000000000000],"data_offsets":[0,8000000000000]}})",
        R"({"x":{"dtype":"U8","shape":[0,9223372036854775807],"data_offsets":[0,0]}})"}) {
    std::string head(8, '\0');
    head[0] = static_cast<char>(json.size());
    head += json;
    const size_t peak = fuzz::PeakMemory([&] {
      EXPECT_TRUE(
          absl::IsInvalidArgument(graph::ReadTensorHeader(head, static_cast<int64_t>(head.size()) + 8).status()));
    });
    EXPECT_LT(peak, size_t{64 << 10}) << json;
  }
  std::string endless(8, '\xff');  // the length of the header
  EXPECT_LT(fuzz::PeakMemory([&] { EXPECT_FALSE(graph::ReadTensorHeader(endless, INT64_MAX).ok()); }), size_t{4 << 10});
}

}  // namespace
}  // namespace assay::bench
