#include "graph/callees.h"

#include <iterator>
#include <set>

#include "gmock/gmock.h"
#include "graph/public_callees.h"
#include "graph/signature.h"
#include "graph/text.h"

namespace assay::graph {
namespace {

using ::testing::HasSubstr;

TEST(CalleesTest, HasAllThatPublicGraphsCall) {
  EXPECT_EQ(std::size(kPublicCallees), 275u);
  for (const std::string_view name : kPublicCallees) EXPECT_NE(FindCallee(name), nullptr) << name;
}

// Every row reads as: a signature in parentheses, a known kind of target, known flags.
TEST(CalleesTest, RowsAreWellFormed) {
  for (const Callee& callee : Callees()) {
    SCOPED_TRACE(std::string(callee.name));
    EXPECT_EQ(FindCallee(callee.name), &callee);
    EXPECT_TRUE(callee.target.starts_with("aten::") || callee.target.starts_with("composite::")) << callee.target;
    EXPECT_EQ(callee.flags.find_first_not_of("mirdn0tao"), std::string_view::npos) << callee.flags;
    switch (callee.kind) {
      case CalleeKind::kFunction:
        EXPECT_TRUE(callee.name.starts_with("torch."));
        break;
      case CalleeKind::kMethod:
        EXPECT_TRUE(callee.name.starts_with('.'));
        break;
      case CalleeKind::kOperator:
        EXPECT_TRUE(callee.name.starts_with("operator:"));
        break;
      case CalleeKind::kAttribute:
        EXPECT_TRUE(callee.name.starts_with("getattr:."));
        break;
    }
    ASSERT_FALSE(SignaturesOf(callee).empty());
    for (const Signature& signature : SignaturesOf(callee)) {
      EXPECT_TRUE(signature.text.starts_with('(') && signature.text.ends_with(')')) << signature.text;
      EXPECT_LE(signature.parameters.size(), 64u);
      std::set<std::string_view> names;
      for (const SignatureParameter& parameter : signature.parameters) {
        EXPECT_FALSE(parameter.name.empty()) << signature.text;
        EXPECT_EQ(parameter.name.find_first_of(" =|()*"), std::string_view::npos) << signature.text;
        EXPECT_TRUE(names.insert(parameter.name).second) << signature.text;
        for (const std::string_view alias : parameter.aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
      }
      if (callee.kind != CalleeKind::kFunction) {
        ASSERT_FALSE(signature.parameters.empty());
        EXPECT_EQ(signature.parameters[0].name, "self");
      }
    }
  }
}

// A function that mutates by its name says so.
TEST(CalleesTest, InPlaceNamesAreFlagged) {
  for (const Callee& callee : Callees()) {
    if (callee.name.ends_with('_') && !callee.name.ends_with("__")) {
      EXPECT_NE(callee.flags.find('m'), std::string_view::npos) << callee.name;
    }
  }
}

TEST(CalleesTest, UnknownNamesAreNotFound) {
  EXPECT_EQ(FindCallee("torch.load"), nullptr);
  EXPECT_EQ(FindCallee(""), nullptr);
  EXPECT_EQ(NearestCallee("torch.tanhh", CalleeKind::kFunction), "torch.tanh");
  EXPECT_EQ(NearestCallee(std::string(1000, 'a'), CalleeKind::kFunction), "");
}

Operation Call(std::string_view name, int positional, std::vector<std::string> keywords) {
  Operation operation;
  operation.callee = FindCallee(name);
  operation.positional.resize(positional);
  for (std::string& keyword : keywords) operation.keyword.push_back({std::move(keyword), {}});
  return operation;
}

TEST(SignatureTest, ReadsParts) {
  const Signature& signature = SignaturesOf(*FindCallee("torch.nn.functional.interpolate"))[0];
  ASSERT_EQ(signature.parameters.size(), 7u);
  EXPECT_EQ(signature.parameters[0].default_text, "");
  EXPECT_EQ(signature.parameters[3].name, "mode");
  EXPECT_EQ(signature.parameters[3].default_text, "'nearest'");
  const Signature& sum = SignaturesOf(*FindCallee("torch.sum"))[1];
  EXPECT_EQ(sum.parameters[1].aliases, std::vector<std::string_view>{"axis"});
  EXPECT_TRUE(sum.parameters[3].keyword_only);
  EXPECT_EQ(sum.positional_count, 3);
  const Signature& zeros = SignaturesOf(*FindCallee("torch.zeros"))[0];
  EXPECT_EQ(zeros.variadic, 0);
  EXPECT_TRUE(zeros.parameters[1].keyword_only);
}

TEST(SignatureTest, BindsByPositionAndName) {
  const absl::StatusOr<Binding> binding = Bind(Call("torch.cat", 1, {"axis"}));
  ASSERT_TRUE(binding.ok()) << binding.status();
  EXPECT_EQ(binding->arguments, (std::vector<int>{0, 1}));
  const absl::StatusOr<Binding> linear = Bind(Call("torch._C._nn.linear", 0, {"bias", "input", "weight"}));
  ASSERT_TRUE(linear.ok()) << linear.status();
  EXPECT_EQ(linear->arguments, (std::vector<int>{1, 2, 0}));
  const absl::StatusOr<Binding> defaults = Bind(Call("torch._C._nn.linear", 2, {}));
  ASSERT_TRUE(defaults.ok()) << defaults.status();
  EXPECT_EQ(defaults->arguments, (std::vector<int>{0, 1, -1}));
}

TEST(SignatureTest, BindsVariadicArguments) {
  const absl::StatusOr<Binding> view = Bind(Call(".view", 4, {}));
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->arguments, (std::vector<int>{0, 1}));
  EXPECT_EQ(view->variadic_count, 3);
  const absl::StatusOr<Binding> zeros = Bind(Call("torch.zeros", 0, {"dtype", "size"}));
  ASSERT_TRUE(zeros.ok()) << zeros.status();
  EXPECT_EQ(zeros->arguments[0], 1);
  EXPECT_EQ(zeros->variadic_count, 0);
}

TEST(SignatureTest, TriesSignaturesInOrder) {
  EXPECT_EQ(Bind(Call("torch.arange", 1, {"device"}))->signature, &SignaturesOf(*FindCallee("torch.arange"))[0]);
  EXPECT_EQ(Bind(Call("torch.arange", 3, {"device"}))->signature, &SignaturesOf(*FindCallee("torch.arange"))[1]);
  EXPECT_EQ(Bind(Call("torch.arange", 0, {"start", "end"}))->signature, &SignaturesOf(*FindCallee("torch.arange"))[1]);
}

TEST(SignatureTest, SaysWhyNoneFits) {
  EXPECT_THAT(Bind(Call("torch.arange", 4, {})).status().message(), HasSubstr("at most 3 positional"));
  EXPECT_THAT(Bind(Call("torch.arange", 0, {})).status().message(), HasSubstr("it takes (end, *, dtype=None"));
  EXPECT_THAT(Bind(Call("torch.cat", 2, {"axis"})).status().message(), HasSubstr("'axis' is given twice"));
}

}  // namespace
}  // namespace assay::graph
