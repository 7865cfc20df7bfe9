#include "worker/process.h"

#include <signal.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace assay::worker {
namespace {

TEST(ProcessTest, AProcessHasEndedWhenItHasAndNotBefore) {
  Launch launch;
  launch.arguments = {"/bin/sleep", "1000"};
  absl::StatusOr<std::unique_ptr<Process>> process = Process::Start(launch, {});
  ASSERT_TRUE(process.ok()) << process.status();
  const runner::UniqueFd pidfd(::dup((*process)->pidfd()));
  EXPECT_FALSE(ProcessEnded(pidfd.get()));
  const ProcessEnd end = (*process)->Kill();
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_TRUE(ProcessEnded(pidfd.get()));
}

TEST(ProcessTest, AnEndOfItsOwnIsToldAfterAKill) {
  Launch launch;
  launch.arguments = {"/bin/sh", "-c", "exit 7"};
  absl::StatusOr<std::unique_ptr<Process>> process = Process::Start(launch, {});
  ASSERT_TRUE(process.ok()) << process.status();
  while (!ProcessEnded((*process)->pidfd())) {
  }
  const ProcessEnd end = (*process)->Kill();
  EXPECT_EQ(end.exit_code, 7);
  EXPECT_EQ(end.signal, 0);
}

}  // namespace
}  // namespace assay::worker
