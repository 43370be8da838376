#include "launch/command/number_fault.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "launch/command/command.h"

namespace regraft::launch {
namespace {

using ::testing::HasSubstr;

/// A program with a command that takes numbers of every kind.
struct Program {
  Program() {
    app.add_option("--draws", draws, "");
    Command* sub = app.add_subcommand("work", "");
    sub->add_option("--seconds", seconds, "")->check(non_negative_number());
    sub->add_option("--budget", budget, "")->check(in_range(1.0, 60.0));
    sub->add_option("--steps", steps, "")->check(in_range(1, 100));
    sub->add_option("--rate", rate, "")->check(positive_number());
    sub->add_option("--name", name, "");
  }

  /// What it says of the arguments; empty: they are fine.
  std::string says(const std::vector<std::string>& arguments) {
    try {
      app.parse(arguments);
    } catch (const UsageError& error) {
      return error.problem();
    }
    return "";
  }

  Command app{"program", "test", "1"};
  std::uint64_t draws = 0;
  double seconds = 0, budget = 1, rate = 1;
  int steps = 1;
  std::string name;
};

TEST(NumberFault, NumbersThatCannotBeMeantAreRefusedWithWhatIsAllowed) {
  Program program;
  EXPECT_EQ(program.says({"--draws", "-1"}),
            "--draws: '-1' is not allowed: give a whole number of 0 or more");
  EXPECT_THAT(program.says({"--draws", "18446744073709551616"}), HasSubstr("is not allowed"));
  for (const char* number : {"nan", "-nan", "inf", "-inf", "1e400", "-1", "-0.5"}) {
    const std::vector<std::string> words{"work", "--seconds", number};
    EXPECT_EQ(program.says(words),
              "--seconds: '" + std::string(number) + "' is not allowed: give a finite number of 0 or more");
  }
  EXPECT_THAT(program.says({"work", "--budget", "nan"}), HasSubstr("give a finite number in [1 - 60]"));
  EXPECT_THAT(program.says({"work", "--steps", "-2"}), HasSubstr("give a whole number in [1 - 100]"));
  EXPECT_THAT(program.says({"work", "--rate", "nan"}), HasSubstr("give a finite number above 0"));
}

TEST(NumberFault, OthersAreTakenAsBefore) {
  Program program;
  EXPECT_EQ(program.says({"--draws", "18446744073709551615", "work", "--seconds", "0", "--budget", "1e1",
                          "--steps", "100", "--rate", "0.25", "--name", "nan"}),
            "");
  EXPECT_EQ(program.draws, ~std::uint64_t{0});
  EXPECT_EQ(program.budget, 10);
  EXPECT_EQ(program.steps, 100);
  EXPECT_EQ(program.name, "nan");
  EXPECT_THAT(program.says({"work", "--steps", "101"}), HasSubstr("--steps"));
  EXPECT_THAT(program.says({"work", "--seconds", "soon"}), HasSubstr("--seconds"));
}

}  // namespace
}
