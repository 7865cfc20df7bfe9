// What a runner may send: JSON lines, in pieces. The input's first byte is the size of the pieces.
#include "runner/channel.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;  // NOLINT
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t piece = data[0] == 0 ? size : data[0];
  fuzz::RequireBoundedMemory(size, [&] {
    runner::Framing framing;
    while (!rest.empty()) {
      if (!framing.Add(rest.substr(0, piece), {}).ok()) return;
      rest.remove_prefix(std::min(piece, rest.size()));
      while (true) {
        absl::StatusOr<std::optional<runner::Message>> message = framing.Next();
        if (!message.ok()) return;
        if (!message->has_value()) break;
        fuzz::Require((*message)->fds.empty() && !(*message)->TakeFd("tensors").valid(), "a descriptor from nowhere");
      }
    }
  });
  return 0;
}
