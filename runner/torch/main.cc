// assay-runner-torch: LibTorch's runner (runner/protocol.md). The process that starts loads LibTorch, and serves each
// trial in a child.
#include <fcntl.h>

#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "runner/channel.h"
#include "runner/torch/session.h"
#include "runner/torch/warm_up.h"
#include "runner/zygote.h"

int main(int argc, char** argv) {
  using assay::runner::Channel;
  using assay::runner::UniqueFd;
  if (argc != 1 || ::fcntl(assay::runner::kRequestFd, F_GETFD) < 0 || ::fcntl(assay::runner::kReplyFd, F_GETFD) < 0) {
    std::fprintf(stderr,
                 "assay-runner-torch takes no arguments; it serves the runner protocol on descriptors %d (requests) "
                 "and %d (replies), "
                 "which a worker gives it\n",
                 assay::runner::kRequestFd, assay::runner::kReplyFd);
    return 2;
  }
  assay::torch_runner::WarmUp();
  const assay::runner::Zygote zygote{
      [] { return assay::torch_runner::Describe(); },
      [](Channel channel) { return assay::torch_runner::Session(std::move(channel)).Serve(); },
  };
  const absl::Status status =
      assay::runner::Serve(zygote, Channel(UniqueFd(assay::runner::kRequestFd), UniqueFd(assay::runner::kReplyFd)));
  if (!status.ok()) std::fprintf(stderr, "assay-runner-torch: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
