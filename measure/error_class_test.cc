#include "measure/error_class.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

namespace assay::measure {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

TEST(ErrorClassTest, NamesGoThereAndBackAndDiffer) {
  std::set<std::string> names;
  for (ErrorClass error_class : kErrorClasses) {
    names.insert(std::string(Name(error_class)));
    EXPECT_EQ(ErrorClassFromName(Name(error_class)), error_class);
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kErrorClassCount));
  EXPECT_EQ(Name(ErrorClass::kShapeMismatch), "shape_mismatch");
  EXPECT_EQ(Name(ErrorClass::kNan), "nan");
  EXPECT_EQ(ErrorClassFromName("Correct"), std::nullopt);
}

TEST(ErrorClassTest, DetailsGoThereAndBack) {
  for (int i = 0; i < kFailureDetailCount; ++i) {
    const auto detail = static_cast<FailureDetail>(i);
    EXPECT_EQ(FailureDetailFromName(Name(detail)), detail);
  }
  EXPECT_EQ(Name(FailureDetail::kNone), "");
  EXPECT_EQ(Name(FailureDetail::kCheating), "cheating");
  EXPECT_EQ(FailureDetailFromName("unknown"), std::nullopt);
}

TEST(ErrorClassTest, InterpretationsGoThereAndBack) {
  for (int i = 0; i < kInterpretationCount; ++i) {
    const auto interpretation = static_cast<Interpretation>(i);
    EXPECT_EQ(InterpretationFromName(Name(interpretation)), interpretation);
  }
  EXPECT_EQ(InterpretationFromName(""), std::nullopt);
}

TEST(ErrorClassTest, OnlySkippedAndInfrastructureAreOutOfTheScores) {
  for (ErrorClass error_class : kErrorClasses) {
    EXPECT_EQ(IsScored(error_class), error_class != ErrorClass::kSkipped && error_class != ErrorClass::kInfrastructure);
  }
}

TEST(ErrorClassTest, LevelsOfTheThreeInterpretations) {
  struct Row {
    ErrorClass error_class;
    double report, usual, extended;
  };
  for (const Row& row : {Row{ErrorClass::kAccuracy, 1, 1, 1}, Row{ErrorClass::kNan, 2, 3, 2},
                         Row{ErrorClass::kInf, 2, 3, 2}, Row{ErrorClass::kTypeMismatch, 2, 3, 2},
                         Row{ErrorClass::kShapeMismatch, 2, 3, 2}, Row{ErrorClass::kRuntimeFail, 2, 3, 3},
                         Row{ErrorClass::kCompileFail, 3, 3, 4}, Row{ErrorClass::kEagerFail, kNever, 3, kNever}}) {
    SCOPED_TRACE(Name(row.error_class));
    EXPECT_EQ(ToleratedFrom(row.error_class, Interpretation::kReport), row.report);
    EXPECT_EQ(ToleratedFrom(row.error_class, Interpretation::kDefault), row.usual);
    EXPECT_EQ(ToleratedFrom(row.error_class, Interpretation::kMismatchExtended), row.extended);
  }
  EXPECT_EQ(LastLevel(Interpretation::kReport), 4);
  EXPECT_EQ(LastLevel(Interpretation::kDefault), 4);
  EXPECT_EQ(LastLevel(Interpretation::kMismatchExtended), 5);
}

}  // namespace
}  // namespace assay::measure
