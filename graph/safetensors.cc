#include "graph/safetensors.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstring>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "graph/diagnostic.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

constexpr std::string_view kPadding = "__pad__";
constexpr int64_t kLengthBytes = 8;
// The format's own limit.
constexpr int64_t kLongestHeader = 100'000'000;
constexpr int kLongestShape = 64;

int64_t Aligned(int64_t offset) { return (offset + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment; }

int64_t BytesOf(const TensorSpec& spec) {
  int64_t bytes = ElementSize(spec.dtype);
  for (const int64_t size : spec.shape) bytes *= size;
  return bytes;
}

void AppendEntry(std::string& json, const TensorSpec& spec, int64_t begin, int64_t end) {
  json += json.empty() ? '{' : ',';
  json += boost::json::serialize(boost::json::string_view(spec.name.data(), spec.name.size()));
  json += Cat(":{\"dtype\":\"", SafetensorsName(spec.dtype), "\",\"shape\":[");
  for (size_t i = 0; i < spec.shape.size(); ++i) json += Cat(i > 0 ? "," : "", spec.shape[i]);
  json += Cat("],\"data_offsets\":[", begin, ",", end, "]}");
}

absl::Status Refuse(std::string_view message) {
  return absl::InvalidArgumentError(Cat("not a safetensors file: ", message));
}

absl::Status RefuseTensor(std::string_view name, std::string_view message) {
  return Refuse(Cat("tensor ", Quoted(name), ": ", message));
}

std::string_view View(const boost::json::string& text) { return {text.data(), text.size()}; }

// A non-negative integer of JSON.
bool ReadCount(const boost::json::value& value, int64_t* out) {
  const int64_t* number = value.if_int64();
  if (number == nullptr || *number < 0) return false;
  *out = *number;
  return true;
}

// One entry of the header; offsets are from the end of the header, whose data has `data_bytes` bytes.
absl::StatusOr<TensorLayout::Entry> ReadEntry(std::string_view name, const boost::json::value& value,
                                              int64_t data_bytes) {
  const boost::json::object* object = value.if_object();
  if (object == nullptr) return RefuseTensor(name, "its description is not a JSON object");
  const boost::json::value* dtype = object->if_contains("dtype");
  const boost::json::value* shape = object->if_contains("shape");
  const boost::json::value* offsets = object->if_contains("data_offsets");
  if (dtype == nullptr || !dtype->is_string() || shape == nullptr || !shape->is_array() || offsets == nullptr ||
      !offsets->is_array() || offsets->get_array().size() != 2) {
    return RefuseTensor(name, "it needs \"dtype\" (a string), \"shape\" (an array) and \"data_offsets\" (two numbers)");
  }
  TensorLayout::Entry entry;
  entry.spec.name = name;
  const std::optional<DType> known = DTypeFromSafetensorsName(View(dtype->get_string()));
  if (!known.has_value()) return RefuseTensor(name, Cat("unknown dtype ", Quoted(View(dtype->get_string()))));
  entry.spec.dtype = *known;

  if (shape->get_array().size() > kLongestShape) return RefuseTensor(name, "it has too many dimensions");
  // No size may overflow even beside a 0: strides are products of the sizes behind them.
  int64_t bytes = ElementSize(*known), bound = bytes;
  for (const boost::json::value& item : shape->get_array()) {
    int64_t size = 0;
    if (!ReadCount(item, &size)) return RefuseTensor(name, "its shape is not made of non-negative integers");
    if (__builtin_mul_overflow(bound, std::max<int64_t>(size, 1), &bound)) {
      return RefuseTensor(name, "its shape overflows 64 bits");
    }
    bytes *= size;
    entry.spec.shape.push_back(size);
  }

  int64_t begin = 0, end = 0;
  if (!ReadCount(offsets->get_array()[0], &begin) || !ReadCount(offsets->get_array()[1], &end) || begin > end) {
    return RefuseTensor(name, "its offsets are not two ascending non-negative integers");
  }
  if (end > data_bytes) return RefuseTensor(name, "it ends behind the end of the file");
  if (end - begin != bytes) {
    return RefuseTensor(name, Cat("its offsets mean ", end - begin, " bytes, its shape and dtype ", bytes));
  }
  entry.offset = begin;
  entry.bytes = bytes;
  return entry;
}

}  // namespace

const TensorLayout::Entry* TensorLayout::Find(std::string_view name) const {
  for (const Entry& entry : entries) {
    if (entry.spec.name == name) return &entry;
  }
  return nullptr;
}

bool IsPadding(const TensorSpec& spec) { return spec.name.starts_with(kPadding); }

TensorLayout PlanTensors(const std::vector<TensorSpec>& specs) {
  TensorLayout layout;
  std::string json;
  // The header is filled up to the alignment, so offsets from its end are aligned in the file too.
  int64_t offset = 0;
  int padding = 0;
  for (const TensorSpec& spec : specs) {
    if (const int64_t aligned = Aligned(offset); aligned > offset) {
      const TensorSpec filler{Cat(kPadding, padding++), DType::kUInt8, {aligned - offset}};
      AppendEntry(json, filler, offset, aligned);
      offset = aligned;
    }
    const int64_t bytes = BytesOf(spec);
    AppendEntry(json, spec, offset, offset + bytes);
    layout.entries.push_back({spec, offset, bytes});
    offset += bytes;
  }
  json += json.empty() ? "{}" : "}";
  json.resize(Aligned(kLengthBytes + static_cast<int64_t>(json.size())) - kLengthBytes, ' ');
  const uint64_t length = json.size();
  layout.header.resize(kLengthBytes);
  for (int i = 0; i < kLengthBytes; ++i) layout.header[i] = static_cast<char>(length >> (8 * i));
  layout.header += json;
  for (TensorLayout::Entry& entry : layout.entries) entry.offset += static_cast<int64_t>(layout.header.size());
  layout.file_bytes = static_cast<int64_t>(layout.header.size()) + offset;
  return layout;
}

absl::StatusOr<TensorLayout> ReadTensorHeader(std::string_view head, int64_t file_bytes) {
  if (file_bytes < kLengthBytes || head.size() < kLengthBytes) return Refuse("it is shorter than 8 bytes");
  uint64_t length = 0;
  for (int i = 0; i < kLengthBytes; ++i) length |= uint64_t{static_cast<unsigned char>(head[i])} << (8 * i);
  if (length > kLongestHeader) return Refuse(Cat("its header claims ", length, " bytes"));
  const int64_t header_bytes = kLengthBytes + static_cast<int64_t>(length);
  if (header_bytes > file_bytes) return Refuse("its header is longer than the file");
  if (static_cast<int64_t>(head.size()) < header_bytes) {
    return Refuse(Cat("its header has ", header_bytes, " bytes, ", head.size(), " were given"));
  }
  const std::string_view text = head.substr(kLengthBytes, length);
  boost::json::parse_options options;
  options.max_depth = 8;
  boost::json::error_code error;
  const boost::json::value value =
      boost::json::parse(boost::json::string_view(text.data(), text.size()), error, {}, options);
  if (error) return Refuse(Cat("its header is not JSON: ", error.message()));
  const boost::json::object* object = value.if_object();
  if (object == nullptr) return Refuse("its header is not a JSON object");

  TensorLayout layout;
  const int64_t data_bytes = file_bytes - header_bytes;
  for (const boost::json::key_value_pair& pair : *object) {
    const std::string_view name(pair.key().data(), pair.key().size());
    if (name == "__metadata__") continue;
    absl::StatusOr<TensorLayout::Entry> entry = ReadEntry(name, pair.value(), data_bytes);
    if (!entry.ok()) return entry.status();
    layout.entries.push_back(*std::move(entry));
  }
  std::stable_sort(layout.entries.begin(), layout.entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.offset, a.bytes) < std::pair(b.offset, b.bytes);
  });
  int64_t end = 0;
  for (TensorLayout::Entry& entry : layout.entries) {
    if (entry.offset < end) return RefuseTensor(entry.spec.name, "it overlaps another tensor");
    if (entry.offset > end) return RefuseTensor(entry.spec.name, "there is a hole before it");
    end = entry.offset + entry.bytes;
    entry.offset += header_bytes;
  }
  if (end != data_bytes) return Refuse("bytes follow the last tensor");
  std::erase_if(layout.entries, [](const auto& entry) { return IsPadding(entry.spec); });
  layout.file_bytes = file_bytes;
  layout.header = head.substr(0, header_bytes);
  return layout;
}

}  // namespace assay::graph
