// Writes protocol-buffer messages by hand: the few fields of CompileOptionsProto that are needed do not justify XLA's
// .proto files, and a library of protocol buffers must not share a process with a plug-in's own copy.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace assay::pjrt {

class ProtoWriter {
 public:
  // An int32, int64, bool or enumeration.
  void Number(int field, int64_t value) {
    Varint(static_cast<uint64_t>(field) << 3);
    Varint(static_cast<uint64_t>(value));
  }
  void Double(int field, double value) {
    Varint(static_cast<uint64_t>(field) << 3 | 1);
    char bytes[sizeof value];
    memcpy(bytes, &value, sizeof value);
    out_.append(bytes, sizeof bytes);
  }
  // A string, bytes or a message that is already written.
  void Bytes(int field, std::string_view value) {
    Varint(static_cast<uint64_t>(field) << 3 | 2);
    Varint(value.size());
    out_.append(value);
  }
  const std::string& bytes() const { return out_; }

 private:
  void Varint(uint64_t value) {
    for (; value > 127; value >>= 7) out_.push_back(static_cast<char>(value | 128));
    out_.push_back(static_cast<char>(value));
  }
  std::string out_;
};

}  // namespace assay::pjrt
