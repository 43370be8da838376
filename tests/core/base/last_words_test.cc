#include "core/base/last_words.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace regraft {
namespace {

TEST(LastWordsDeathTest, AreSaidAndTheSignalEndsTheProcess) {
  const auto die = [] {
    set_last_words(SIGXCPU, "gone");
    raise(SIGXCPU);
  };
  EXPECT_EXIT(die(), ::testing::KilledBySignal(SIGXCPU), "^gone\n$");
}

TEST(LastWordsDeathTest, LongOnesAreCut) {
  const auto die = [] {
    set_last_words(SIGUSR1, std::string(1000, 'x'));
    raise(SIGUSR1);
  };
  EXPECT_EXIT(die(), ::testing::KilledBySignal(SIGUSR1), "^x{254}\n$");
}

TEST(LastWords, LeaveAloneWhatIsTakenAlready) {
  static volatile std::sig_atomic_t taken = 0;
  std::signal(SIGUSR2, [](int) { taken = 1; });
  set_last_words(SIGUSR2, "gone");
  raise(SIGUSR2);
  EXPECT_EQ(taken, 1);
  std::signal(SIGUSR2, SIG_DFL);
}

}  // namespace
}
