#include "core/base/child_error.h"

#include <gtest/gtest.h>

namespace regraft {
namespace {

TEST(ChildError, IsTheLastThatTheProgramSaid) {
  const Captured child{
      {.code = 3}, "", "regraft: first\nnoise\nregraft: cannot read a.onnx\n  give another\n"};
  EXPECT_EQ(child_error(child, "measuring"), "cannot read a.onnx\n  give another");
}

TEST(ChildError, SaysHowAChildEndedThatSaidNothing) {
  EXPECT_EQ(child_error({{.code = 3}, "output", ""}, "measuring"), "measuring ended with exit code 3");
  EXPECT_EQ(child_error({{.code = 137, .signal = 9}, "", "warning\n"}, "measuring"),
            "measuring was killed by signal 9 (Killed): warning\n");
  EXPECT_EQ(child_error({{.code = 1}, "", std::string(3000, 'a') + "end"}, "measuring"),
            "measuring ended with exit code 1: " + std::string(997, 'a') + "end");
}

TEST(ChildError, OneThatWasKilledAtItsLimitTookTooLong) {
  EXPECT_EQ(child_error({{.code = 137, .signal = 9}, "", "regraft: half", true}, "measuring"),
            "measuring took too long");
}

}  // namespace
}
