#include "core/base/progress.h"
#include "support/manual_clock.h"

#include <gtest/gtest.h>

#include <sstream>

namespace regraft {
namespace {

void advance_s(ManualClock& clock, double seconds) {
  clock.advance_ns(static_cast<std::int64_t>(seconds * static_cast<double>(nanoseconds_per_second)));
}

TEST(FormatDuration, PicksTheUnit) {
  EXPECT_EQ(format_duration(-1), "0s");
  EXPECT_EQ(format_duration(59.4), "59s");
  EXPECT_EQ(format_duration(312), "5m 12s");
  EXPECT_EQ(format_duration(3 * 3600 + 120), "3h 02m");
}

TEST(Progress, PrintsPlainLinesAtIntervalsInALog) {
  ManualClock clock;
  std::ostringstream out;
  Progress progress({.label = "training", .unit = "updates", .total = 200}, clock, out);
  for (int i = 1; i <= 50; ++i) {
    advance_s(clock, 0.5);
    progress.update(static_cast<std::uint64_t>(i), "return 0.5");
  }
  progress.finish();
  EXPECT_EQ(out.str(),
            "training: 20/200 updates (10%), 2/s, ETA 1m 30s, return 0.5\n"
            "training: 40/200 updates (20%), 2/s, ETA 1m 20s, return 0.5\n"
            "training: 50/200 updates (25%) in 25s, 2/s\n");
}

TEST(Progress, RewritesOneLineOnATerminal) {
  ManualClock clock;
  std::ostringstream out;
  Progress progress({.label = "search", .unit = "graphs", .terminal = true}, clock, out);
  advance_s(clock, 1);
  progress.update(1000);
  advance_s(clock, 0.1);
  progress.update(1500);  // too soon
  progress.finish("best 3 ms");
  EXPECT_EQ(out.str(),
            "\rsearch: 1000 graphs, 1000/s\x1b[K"
            "\rsearch: 1500 graphs in 1s, 1364/s, best 3 ms\x1b[K\n");
}

TEST(Progress, RateForgetsWhatIsOlderThanItsWindow) {
  ManualClock clock;
  std::ostringstream out;
  Progress progress({.label = "a", .unit = "b"}, clock, out);
  std::uint64_t done = 0;
  for (int i = 0; i < 10; ++i) {
    advance_s(clock, 10);
    progress.update(done += 1000);
  }
  for (int i = 0; i < 10; ++i) {
    advance_s(clock, 10);
    progress.update(done += 10);
  }
  const std::string text = out.str();
  EXPECT_EQ(text.substr(text.rfind("a: ")), "a: 10100 b, 1/s\n");
}

TEST(SystemClock, RunsForward) {
  const SystemClock clock;
  const auto first = clock.steady_ns();
  EXPECT_GE(clock.steady_ns(), first);
  EXPECT_GT(clock.wall_ns(), 1'600'000'000 * nanoseconds_per_second);
}

}  // namespace
}
