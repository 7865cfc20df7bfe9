#include "runner/pjrt/plugin.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runner/pjrt/client.h"
#include "runner/pjrt/status.h"

namespace assay::pjrt {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Refusal(const absl::Status& status) { return std::string(Said(status)); }

TEST(Plugin, AFileThatIsNotThereIsNamed) {
  EXPECT_THAT(Refusal(Plugin::Load("/nowhere/plugin.so").status()), HasSubstr("/nowhere/plugin.so"));
}

TEST(Plugin, ALibraryWithoutTheEntryPointIsRefused) {
  EXPECT_THAT(Refusal(Plugin::Load(ASSAY_FAKE_NO_ENTRY).status()), HasSubstr("GetPjrtApi"));
}

TEST(Plugin, AnotherMajorVersionIsRefused) {
  EXPECT_THAT(Refusal(Plugin::Load(ASSAY_FAKE_OTHER_VERSION).status()), HasSubstr("PJRT API 9.7"));
}

TEST(Plugin, NothingBeyondTheTableIsCalled) {
  const auto plugin = Plugin::Load(ASSAY_FAKE_SHORT_TABLE);
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  EXPECT_TRUE((*plugin)->Has(&PJRT_Api::PJRT_Error_GetCode));
  EXPECT_FALSE((*plugin)->Has(&PJRT_Api::PJRT_Client_Create));
  const auto client = Client::Create(plugin->get(), {});
  EXPECT_TRUE(absl::IsUnimplemented(client.status()));
  EXPECT_THAT(Refusal(client.status()), HasSubstr("PJRT_Client_Create"));
  const auto build = (*plugin)->Build();
  ASSERT_TRUE(build.ok()) << build.status();
  EXPECT_THAT(*build, StartsWith("build-id "));
}

}  // namespace
}  // namespace assay::pjrt
