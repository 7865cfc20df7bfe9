#include "client/table.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

TEST(TableTest, AlignsByCharactersNotBytes) {
  Table table({{"NAME"}, {"λ", true}});
  table.Add({"µ", "1"});
  table.Add({"long name", "12"});
  EXPECT_EQ(table.Text(),
            "NAME        λ\n"
            "µ           1\n"
            "long name  12\n");
}

TEST(TableTest, NoSpaceAtTheEndOfALine) {
  Table table({{"A"}, {"B"}});
  table.Add({"x", ""});
  EXPECT_EQ(table.Text(), "A  B\nx\n");
}

TEST(TableTest, CellsCannotSteerATerminal) {
  Table table({{"A"}});
  table.Add({"a\x1b[2Jb\nc"});
  EXPECT_EQ(table.Text(), "A\na?[2Jb c\n");
}

TEST(TableTest, CsvQuotes) {
  Table table({{"a"}, {"b"}});
  table.Add({"x,y", "he said \"no\"\n"});
  EXPECT_EQ(table.Csv(), "a,b\r\n\"x,y\",\"he said \"\"no\"\"\n\"\r\n");
}

TEST(PrintableTest, KeepsLinesAndUnicode) {
  EXPECT_EQ(Printable("λ\tx\n"), "λ\tx\n");
  EXPECT_EQ(Printable("a\x1b"
                      "b\x7f\xc2\x9b"
                      "c"),
            "a?b??c");
}

}  // namespace
}  // namespace assay::client
