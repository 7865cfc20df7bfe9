#include "graph/replay.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "gmock/gmock.h"
#include "graph/convert.h"
#include "graph/normals.h"
#include "graph/parse.h"
#include "graph/sha256.h"
#include "graph/test_sample.h"

namespace assay::graph {
namespace {

using Data = std::vector<std::variant<int64_t, double, bool>>;

TensorMeta Meta(DType dtype, std::vector<int64_t> shape) {
  TensorMeta meta;
  meta.name = "w";
  meta.dtype = dtype;
  meta.shape = std::move(shape);
  return meta;
}

template <typename T>
std::vector<T> Replay(const TensorMeta& meta, std::string_view seed = kPublicSet, int threads = 1,
                      ReplayMode mode = ReplayMode::kGraphNet) {
  std::vector<T> out(ElementCount(meta.shape) * ElementSize(meta.dtype) / sizeof(T));
  ReplayTensor("hash", meta, seed, mode, std::as_writable_bytes(std::span(out)), threads);
  return out;
}

std::string DigestOf(const auto& values) {
  return Sha256Hex({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])}).substr(0, 16);
}

// The known answers of the generator's authors.
TEST(PhiloxTest, HasKnownAnswers) {
  EXPECT_EQ(Philox({{0, 0}, {0, 0}}, 0), (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(Philox({{ones, ones}, {ones, ones}}, ~uint64_t{0}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({{0xa4093822, 0x299f31d0}, {0x13198a2e, 0x03707344}}, 0x85a308d3243f6a88),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxTest, LanesAreTheReference) {
  const PhiloxKey key{{1, 2}, {3, 4}};
  const uint64_t first = 0xffffffff;  // the counter's upper word changes here
  std::vector<uint32_t> words(2 * kGroup);
  RandomWords(key, first, 2, words.data());
  for (int64_t i = 0; i < 2 * kGroup; ++i) {
    const uint64_t counter = (first + static_cast<uint64_t>(i / kGroup)) * 16 + static_cast<uint64_t>(i % 16);
    EXPECT_EQ(words[i], Philox(key, counter)[i / 16 % 4]) << i;
  }
}

// The polynomials against the library's functions.
TEST(NormalsTest, AreBoxMuller) {
  const PhiloxKey key{{5, 6}, {7, 8}};
  constexpr int64_t kGroups = 2000;
  std::vector<uint32_t> words(kGroups * kGroup);
  std::vector<float> normals(kGroups * kGroup);
  RandomWords(key, 0, kGroups, words.data());
  NormalNumbers(key, 0, kGroups, normals.data());
  for (int64_t i = 0; i < kGroups * kGroup; ++i) {
    const int64_t row = i / 16 % 4;
    const uint32_t word0 = words[i - row % 2 * 16], word1 = words[i + (1 - row % 2) * 16];
    const double radius = std::sqrt(-2 * std::log(((word0 >> 8) + 1) * 0x1p-24));
    const double angle = 2 * M_PI * static_cast<float>(static_cast<int32_t>(word1)) * 0x1p-32;
    EXPECT_NEAR(normals[i], radius * (row % 2 == 0 ? std::cos(angle) : std::sin(angle)), 2e-6) << i;
  }
}

TEST(NormalsTest, AreTheSameForAnyInstructionSet) {
  std::vector<float> best(1000 * kGroup), baseline(1000 * kGroup);
  NormalNumbers({{5, 6}, {7, 8}}, 77, 1000, best.data());
  NormalNumbersBaseline({{5, 6}, {7, 8}}, 77, 1000, baseline.data());
  EXPECT_EQ(std::memcmp(best.data(), baseline.data(), best.size() * sizeof(float)), 0);
}

TEST(NormalsTest, HaveTheMomentsOfANormalDistribution) {
  constexpr int64_t kGroups = 1 << 14;
  std::vector<float> normals(kGroups * kGroup);
  NormalNumbers({{1, 2}, {3, 4}}, 0, kGroups, normals.data());
  double sum = 0, squares = 0, cubes = 0, fourths = 0, lagged = 0;
  int within = 0;
  for (size_t i = 0; i < normals.size(); ++i) {
    const double x = normals[i];
    sum += x;
    squares += x * x;
    cubes += x * x * x;
    fourths += x * x * x * x;
    if (i > 0) lagged += x * normals[i - 1];
    within += std::abs(x) < 1;
  }
  const double n = static_cast<double>(normals.size());
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(cubes / n, 0, 5 * std::sqrt(15 / n));
  EXPECT_NEAR(fourths / n, 3, 5 * std::sqrt(96 / n));
  EXPECT_NEAR(lagged / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(within / n, 0.682689, 0.003);
}

// Any change of these values is a change of ReplayVersion(kGraphNet).
TEST(ReplayTest, HasGoldenValues) {
  TensorMeta meta = Meta(DType::kFloat32, {1000, 100});
  meta.mean = 0.5;
  meta.std = 0.25;
  const std::vector<float> values = Replay<float>(meta);
  EXPECT_EQ(std::bit_cast<uint32_t>(values[0]), 1057224284u);
  EXPECT_EQ(std::bit_cast<uint32_t>(values[99999]), 1056430366u);
  std::map<DType, std::string> digests;
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kBool,
                            DType::kInt64, DType::kInt8, DType::kComplex64, DType::kFloat8E4M3FN, DType::kFloat8E5M2}) {
    meta.dtype = dtype;
    digests[dtype] = DigestOf(Replay<uint8_t>(meta));
  }
  EXPECT_EQ(digests, (std::map<DType, std::string>{{DType::kBool, "7addc146f85f4ca1"},
                                                   {DType::kInt8, "9192c25b734fcbad"},
                                                   {DType::kInt64, "8568d6b117678d53"},
                                                   {DType::kFloat16, "b005d50fa62212f2"},
                                                   {DType::kBFloat16, "5a6d292c9b1a79e2"},
                                                   {DType::kFloat32, "dd8d239b01aaa559"},
                                                   {DType::kFloat64, "9a66ffa5a2cd2016"},
                                                   {DType::kComplex64, "426d6baa39be9389"},
                                                   {DType::kFloat8E4M3FN, "651de959ea6a6dc8"},
                                                   {DType::kFloat8E5M2, "119fdbab5f3b784d"}}));
  meta = Meta(DType::kInt32, {100000});
  meta.min_val = -3;
  meta.max_val = 1000;
  EXPECT_EQ(DigestOf(Replay<int32_t>(meta)), "d73bd7e4d2252dc5");
}

TEST(ReplayTest, IsTheSameForAnyNumberOfThreads) {
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kComplex64, DType::kBool, DType::kInt64}) {
    TensorMeta meta = Meta(dtype, {5, 1 << 20});  // five chunks
    if (dtype == DType::kInt64) meta.shape = {3, 500001};
    if (dtype == DType::kInt64) meta.min_val = 0, meta.max_val = 1e18;
    const std::vector<uint8_t> one = Replay<uint8_t>(meta, kPublicSet, 1);
    EXPECT_EQ(one, Replay<uint8_t>(meta, kPublicSet, 4)) << Name(dtype);
  }
}

// An element depends on its number only, not on how long the tensor is.
TEST(ReplayTest, IsAPrefixOfLongerTensors) {
  const std::vector<float> longer = Replay<float>(Meta(DType::kFloat32, {(1 << 20) + 777}));
  for (const int64_t size : {int64_t{1}, int64_t{63}, int64_t{65}, int64_t{4097}, int64_t{1} << 20}) {
    const std::vector<float> values = Replay<float>(Meta(DType::kFloat32, {size}));
    EXPECT_TRUE(std::equal(values.begin(), values.end(), longer.begin())) << size;
  }
}

TEST(ReplayTest, DependsOnEveryPartOfTheKey) {
  TensorMeta meta = Meta(DType::kFloat32, {8});
  const std::vector<float> base = Replay<float>(meta);
  EXPECT_EQ(base, Replay<float>(meta));
  EXPECT_NE(base, Replay<float>(meta, "secret"));
  meta.name = "v";
  EXPECT_NE(base, Replay<float>(meta));
  meta.name = "w";
  std::vector<float> other(8);
  ReplayTensor("hash2", meta, kPublicSet, ReplayMode::kGraphNet, std::as_writable_bytes(std::span(other)));
  EXPECT_NE(base, other);
  // The parts do not run into each other.
  meta.name = "2w";
  ReplayTensor("hash", meta, kPublicSet, ReplayMode::kGraphNet, std::as_writable_bytes(std::span(other)));
  std::vector<float> joined(8);
  meta.name = "w";
  ReplayTensor("hash2", meta, kPublicSet, ReplayMode::kGraphNet, std::as_writable_bytes(std::span(joined)));
  EXPECT_NE(other, joined);
}

TEST(ReplayTest, ScalesByAFifthOfTheDeviation) {
  TensorMeta meta = Meta(DType::kFloat32, {1 << 16});
  meta.mean = 3.0;
  meta.std = 2.0;
  double sum = 0, squares = 0;
  for (const float x : Replay<float>(meta)) sum += x, squares += (x - 3.0) * (x - 3.0);
  EXPECT_NEAR(sum / (1 << 16), 3.0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / (1 << 16)), 0.4, 0.01);
  // Absent: mean 0, deviation 0.1.
  squares = 0;
  for (const float x : Replay<float>(Meta(DType::kFloat32, {1 << 16}))) squares += x * x;
  EXPECT_NEAR(std::sqrt(squares / (1 << 16)), 0.02, 0.001);
}

struct Moments {
  double mean = 0, std = 0, low = 0, high = 0;
};

Moments MomentsOf(const std::vector<float>& values) {
  Moments m{0, 0, values[0], values[0]};
  for (const float x : values) {
    m.mean += x / static_cast<double>(values.size());
    m.low = std::min<double>(m.low, x);
    m.high = std::max<double>(m.high, x);
  }
  for (const float x : values) m.std += (x - m.mean) * (x - m.mean) / static_cast<double>(values.size());
  m.std = std::sqrt(m.std);
  return m;
}

Moments InAssayMode(std::string name, std::vector<int64_t> shape, double mean, double std) {
  TensorMeta meta = Meta(DType::kFloat32, std::move(shape));
  meta.name = std::move(name);
  meta.mean = mean;
  meta.std = std;
  return MomentsOf(Replay<float>(meta, kPublicSet, 1, ReplayMode::kAssay));
}

TEST(ReplayTest, AssayModeKeepsTheDeviation) {
  const Moments m = InAssayMode("L_x_", {1 << 16}, 3, 2);
  EXPECT_NEAR(m.mean, 3, 0.05);
  EXPECT_NEAR(m.std, 2, 0.05);
}

TEST(ReplayTest, AssayModeSpreadsWhatWasRoundedToZero) {
  const double nan = std::nan("");
  for (const double rounded : {0.0, nan}) {
    EXPECT_NEAR(InAssayMode("L_self_modules_fc_parameters_weight_", {64, 1024}, 0, rounded).std, 1.0 / 32, 0.001);
    EXPECT_NEAR(InAssayMode("L_self_modules_fc_parameters_bias_", {1 << 14}, 0, rounded).std, 0.02, 0.001);
    EXPECT_NEAR(InAssayMode("L_self_modules_norm_parameters_weight_", {1 << 14}, 1, rounded).std, 0.1, 0.005);
    EXPECT_NEAR(InAssayMode("L_self_modules_norm_parameters_weight_", {1 << 14}, -2, rounded).mean, -2, 0.02);
    EXPECT_NEAR(InAssayMode("L_self_modules_bn_buffers_running_mean_", {1 << 14}, 0, rounded).std, 0.1, 0.005);
    EXPECT_NEAR(InAssayMode("L_inputs_", {1 << 14}, 0, rounded).std, 1, 0.05);
    // A single element is what its mean says.
    EXPECT_EQ(InAssayMode("L_alpha_", {}, 0.25, rounded).mean, 0.25);
  }
}

TEST(ReplayTest, AssayModeKeepsRunningVariancesPositive) {
  const std::string name = "L_self_modules_bn_buffers_running_var_";
  for (const auto& [mean, std] :
       std::vector<std::pair<double, double>>{{0, 0}, {0, 0.5}, {0.5, 0}, {0.5, 4}, {-1, 1}}) {
    const Moments m = InAssayMode(name, {1 << 16}, mean, std);
    const double wanted = mean > 0 ? mean : 1;
    EXPECT_NEAR(m.mean, wanted, 0.01);
    EXPECT_GT(m.low, wanted / 50) << mean << " " << std;
    EXPECT_GT(m.std, 0.05 * wanted);
  }
}

TEST(ReplayTest, ModesDifferInTheScaleOfNumbersOnly) {
  for (const DType dtype : {DType::kBool, DType::kInt64, DType::kInt32}) {
    TensorMeta meta = Meta(dtype, {1000});
    meta.min_val = 0;
    if (dtype != DType::kInt32) meta.max_val = 50;
    EXPECT_EQ(Replay<uint8_t>(meta), Replay<uint8_t>(meta, kPublicSet, 1, ReplayMode::kAssay)) << Name(dtype);
  }
  TensorMeta meta = Meta(DType::kFloat64, {2});
  meta.data = Data{1.5, -2.0};
  EXPECT_EQ(Replay<double>(meta, kPublicSet, 1, ReplayMode::kAssay), (std::vector<double>{1.5, -2.0}));
  // The same random numbers: a fifth of the deviation in one is the deviation of the other.
  meta = Meta(DType::kFloat32, {1000});
  meta.std = 0.5;
  const std::vector<float> peer = Replay<float>(meta);
  meta.std = 0.1;
  EXPECT_EQ(peer, Replay<float>(meta, kPublicSet, 1, ReplayMode::kAssay));
}

// Any change of this value is a change of ReplayVersion(kAssay).
TEST(ReplayTest, AssayModeHasGoldenValues) {
  TensorMeta meta = Meta(DType::kFloat32, {1000, 100});
  meta.name = "L_self_modules_fc_parameters_weight_";
  meta.mean = 0.0;
  meta.std = 0.0;
  EXPECT_EQ(DigestOf(Replay<float>(meta, kPublicSet, 1, ReplayMode::kAssay)), "eba9f463bdc7e643");
}

TEST(ReplayTest, ModesHaveNames) {
  for (const ReplayMode mode : {ReplayMode::kGraphNet, ReplayMode::kAssay}) {
    EXPECT_EQ(ReplayModeFromName(Name(mode)), mode);
    EXPECT_TRUE(ReplayVersion(mode).starts_with(Name(mode)));
  }
  EXPECT_EQ(ReplayModeFromName("peer"), std::nullopt);
}

TEST(ReplayTest, ClampsAndReplaces) {
  using ::testing::Each;
  TensorMeta meta = Meta(DType::kFloat32, {10000});
  meta.std = 0.0;
  meta.mean = 0.625;
  EXPECT_THAT(Replay<float>(meta), Each(0.625f));
  meta.mean = 1e6;
  EXPECT_THAT(Replay<float>(meta), Each(100.0f));
  meta.max_val = 7.0;
  EXPECT_THAT(Replay<float>(meta), Each(7.0f));
  meta = Meta(DType::kFloat32, {10000});
  meta.std = 1.0;
  meta.min_val = 0.0;
  int zeros = 0;
  for (const float x : Replay<float>(meta)) {
    EXPECT_GE(x, 0.0f);
    zeros += x == 0;
  }
  EXPECT_NEAR(zeros, 5000, 300);
  meta = Meta(DType::kFloat32, {10000});
  meta.std = std::nan("");
  for (const float x : Replay<float>(meta)) EXPECT_LT(std::abs(x), 0.06f);
  EXPECT_NE(Replay<float>(meta)[0], 0.0f);
}

TEST(ReplayTest, IntegersAreUniform) {
  TensorMeta meta = Meta(DType::kInt64, {60000});
  meta.min_val = -2;
  meta.max_val = 3;
  meta.data.emplace(60000, int64_t{9});  // bounds go before data
  std::map<int64_t, int> counts;
  for (const int64_t x : Replay<int64_t>(meta)) ++counts[x];
  ASSERT_EQ(counts.size(), 6u);
  EXPECT_EQ(counts.begin()->first, -2);
  for (const auto& [value, count] : counts) EXPECT_NEAR(count, 10000, 500) << value;
  meta = Meta(DType::kInt64, {1000});
  meta.min_val = -0x1p63;
  meta.max_val = std::nextafter(0x1p63, 0);
  int negative = 0;
  for (const int64_t x : Replay<int64_t>(meta)) negative += x < 0;
  EXPECT_NEAR(negative, 500, 80);
}

TEST(ReplayTest, WritesData) {
  TensorMeta meta = Meta(DType::kInt64, {2});
  meta.data = Data{int64_t{9007199254740993}, int64_t{-1}};
  EXPECT_EQ(Replay<int64_t>(meta), (std::vector<int64_t>{9007199254740993, -1}));
  meta.dtype = DType::kUInt8;
  meta.data = Data{int64_t{255}, int64_t{0}};
  EXPECT_EQ(Replay<uint8_t>(meta), (std::vector<uint8_t>{255, 0}));
  meta.data = Data{1.5, std::nan("")};
  meta.dtype = DType::kFloat64;
  EXPECT_EQ(Replay<double>(meta)[0], 1.5);
  EXPECT_TRUE(std::isnan(Replay<double>(meta)[1]));
  meta.dtype = DType::kFloat16;
  EXPECT_EQ(Replay<uint16_t>(meta), (std::vector<uint16_t>{0x3e00, 0x7e00}));
  meta.dtype = DType::kBool;
  meta.data = Data{true, false};
  EXPECT_EQ(Replay<uint8_t>(meta), (std::vector<uint8_t>{1, 0}));
}

TEST(ReplayTest, WritesFilesOfEitherPart) {
  const absl::StatusOr<Graph> graph = Parse(FullSample());
  ASSERT_TRUE(graph.ok()) << graph.status();
  const TensorLayout all = PlanReplay(*graph, ReplayPart::kAll);
  const TensorLayout varying = PlanReplay(*graph, ReplayPart::kVarying);
  ASSERT_EQ(all.entries.size(), 4u);
  ASSERT_EQ(varying.entries.size(), 1u);  // neither a weight, nor a SymInt, nor data
  EXPECT_EQ(varying.entries[0].spec.name, "L_x_");

  const auto write = [&](std::string_view seed, const TensorLayout& layout, int threads) {
    std::string file(layout.file_bytes, '\x55');
    ReplayInto(*graph, "hash", seed, ReplayMode::kAssay, layout, std::as_writable_bytes(std::span(file)), threads);
    return file;
  };
  const auto tensor = [](const std::string& file, const TensorLayout& layout, std::string_view name) {
    const TensorLayout::Entry* entry = layout.Find(name);
    return file.substr(entry->offset, entry->bytes);
  };
  const std::string common = write(kPublicSet, all, 1);
  EXPECT_EQ(common, write(kPublicSet, all, 3));
  EXPECT_TRUE(ReadTensorHeader(common, all.file_bytes).ok());
  EXPECT_EQ(common.find('\x55' + std::string(7, '\x55')), std::string::npos);  // nothing is left unwritten
  const std::string secret = write("secret", all, 1);
  EXPECT_NE(tensor(secret, all, "L_x_"), tensor(common, all, "L_x_"));
  for (const char* name : {"L_weight_", "s0", "L_mask_"}) {
    EXPECT_EQ(tensor(secret, all, name), tensor(common, all, name)) << name;
  }
  EXPECT_EQ(tensor(write("secret", varying, 1), varying, "L_x_"), tensor(secret, all, "L_x_"));
  EXPECT_EQ(tensor(common, all, "s0"), std::string("\4\0\0\0\0\0\0\0", 8));
}

TEST(ConvertTest, Float16RoundsToNearestEven) {
  for (const auto& [value, bits] : std::map<float, int>{{0.0f, 0},
                                                        {1.0f, 0x3c00},
                                                        {-2.0f, 0xc000},
                                                        {65504.0f, 0x7bff},
                                                        {65519.996f, 0x7bff},
                                                        {65520.0f, 0x7c00},
                                                        {1e10f, 0x7c00},
                                                        {1.00048828125f, 0x3c00},
                                                        {1.00146484375f, 0x3c02},
                                                        {0x1p-14f, 0x0400},
                                                        {0x1p-24f, 1},
                                                        {0x1p-25f, 0},
                                                        {0x1.8p-25f, 1},
                                                        {0x1.8p-24f, 2},
                                                        {0x1.ff8p-15f, 0x03ff},
                                                        {0x1.ffcp-15f, 0x0400}}) {
    EXPECT_EQ(ToFloat16(value), bits) << value;
  }
  EXPECT_EQ(ToFloat16(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_EQ(ToFloat16(std::nanf("")), 0x7e00);
#if defined(__FLT16_MAX__)
  for (uint64_t bits = 0; bits < 1ull << 32; bits += 65521) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isnan(value)) continue;
    EXPECT_EQ(ToFloat16(value), std::bit_cast<uint16_t>(static_cast<_Float16>(value))) << value;
  }
#endif
}

TEST(ConvertTest, BFloat16RoundsToNearestEven) {
  EXPECT_EQ(ToBFloat16(1.0f), 0x3f80);
  EXPECT_EQ(ToBFloat16(1.00390625f), 0x3f80);  // a tie
  EXPECT_EQ(ToBFloat16(1.01171875f), 0x3f82);  // a tie
  EXPECT_EQ(ToBFloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(ToBFloat16(std::nanf("")), 0x7fc0);
  EXPECT_EQ(ToBFloat16(std::bit_cast<float>(0x7f800001)) & 0x7fc0, 0x7fc0);
}

// Every code reads back as itself, and what lies between two codes goes to the nearer one or the even one.
template <typename Encode>
void ExpectNearest(int exponent_bits, int mantissa_bits, int largest, const Encode& encode) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto decode = [&](int code) {
    const int exponent = code >> mantissa_bits, mantissa = code & ((1 << mantissa_bits) - 1);
    return exponent == 0
               ? std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits)
               : std::ldexp(static_cast<float>(mantissa + (1 << mantissa_bits)), exponent - bias - mantissa_bits);
  };
  for (int code = 0; code < largest; ++code) {
    const float low = decode(code), high = decode(code + 1), middle = (low + high) / 2;
    EXPECT_EQ(encode(low), code);
    EXPECT_EQ(encode(-high), 0x80 | (code + 1));
    EXPECT_EQ(encode(middle), code % 2 == 0 ? code : code + 1) << middle;
    EXPECT_EQ(encode(std::nextafter(middle, 0.0f)), code);
    EXPECT_EQ(encode(std::nextafter(middle, 1e9f)), code + 1);
  }
}

TEST(ConvertTest, Float8RoundsToNearestEven) {
  ExpectNearest(4, 3, 0x7e, ToFloat8E4M3FN);
  ExpectNearest(5, 2, 0x7b, ToFloat8E5M2);
  EXPECT_EQ(ToFloat8E4M3FN(464.0f), 0x7e);  // a tie with what does not exist
  EXPECT_EQ(ToFloat8E4M3FN(465.0f), 0x7f);
  EXPECT_EQ(ToFloat8E4M3FN(-std::numeric_limits<float>::infinity()), 0xff);
  EXPECT_EQ(ToFloat8E5M2(1e9f), 0x7c);
  EXPECT_EQ(ToFloat8E5M2(std::nanf("")), 0x7e);
}

}  // namespace
}  // namespace assay::graph
