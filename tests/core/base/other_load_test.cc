#include "core/base/other_load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "core/base/file.h"
#include "core/base/process.h"
#include "core/base/processors.h"
#include "core/base/resource_usage.h"

namespace regraft {
namespace {

TEST(OtherLoad, CountsAllThatIsNotIdleOfTheProcessorsNamed) {
  constexpr const char* kText =
      "cpu  900 9 9 9 9 9 9 9 9 9\ncpu0 100 20 30 4000 500 6 7 40 9 9\ncpu1 50 0 0 900 0 0 0\n"
      "cpu10 7 0 0 0 0 0 0 0 0 0\nintr 5 6 7 8 9 10 11 12\n";
  EXPECT_DOUBLE_EQ(busy_seconds(kText, 100, {0}).value_or(0), 2.03);
  EXPECT_DOUBLE_EQ(busy_seconds(kText, 100, {1}).value_or(0), 0.5) << "a line without the column of steal";
  EXPECT_DOUBLE_EQ(busy_seconds(kText, 100, {1, 10}).value_or(0), 0.57);
  EXPECT_EQ(busy_seconds(kText, 100, {2}), std::nullopt);
  for (const char* text : {"", "cpu", "cpu0", "cpu0 a b c d e f g", "Linux"})
    EXPECT_EQ(busy_seconds(text, 100, {0}), std::nullopt) << text;
}

double all_busy_s() {
  return busy_seconds(read_file("/proc/stat"), static_cast<double>(sysconf(_SC_CLK_TCK)), own_processors())
      .value_or(0);
}

TEST(OtherLoad, AnotherProcessIsLoadAndThisOneIsNot) {
  const double before_s = all_busy_s();
  const OtherLoad load;
  Child busy({.argv = {"/bin/sh", "-c", "while :; do :; done"}});
  const auto start = std::chrono::steady_clock::now();
  const double start_s = cpu_seconds();
  const auto used_s = [&] { return cpu_seconds() - start_s; };
  while (used_s() < 0.5 || (load.processors() <= 0.2 && used_s() < 10)) {  // some systems count late
  }
  const double others = load.processors();
  if (all_busy_s() - before_s < 0.25) GTEST_SKIP() << "this system does not count what its processors do";
  const double own =
      used_s() /
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();  // processors
  EXPECT_GT(others, 0.2) << "the child's share";
  EXPECT_LT(own + others, std::thread::hardware_concurrency() + 0.2) << "nothing is counted twice";
  busy.terminate(std::chrono::seconds(10));
  EXPECT_LT(load.processors(), others) << "a child that has ended is none of the others";
}

}  // namespace
}
