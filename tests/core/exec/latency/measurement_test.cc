#include "core/exec/latency/measurement.h"

#include <gmock/gmock.h>

#include <string>

namespace regraft::exec {
namespace {

TEST(MeasureSteps, TakesThemInOrderAndTheirTimes) {
  std::string order;
  const Measurement measurement =
      measure_steps({1, 2, 2, 0}, {[&] { order += "load "; }, [&] { order += "prepare "; },
                                   [&] {
                                     order += "run";
                                     return std::vector<double>{3, 4};
                                   }});
  EXPECT_EQ(order, "load prepare run");
  EXPECT_THAT(measurement.run_ms, ::testing::ElementsAre(3, 4));
  EXPECT_GT(measurement.run_wall_s, 0);
  EXPECT_GT(measurement.peak_rss_bytes, 1u << 20);
}

}  // namespace
}
