#include "core/base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <fstream>

#include "core/base/file.h"

namespace regraft {
namespace {

TEST(CountCores, HardwareThreadsOfOneCoreCountOnce) {
  const TempDir folder;
  const auto tell = [&](int processor, const char* siblings) {
    const auto topology = folder.path() / ("cpu" + std::to_string(processor)) / "topology";
    std::filesystem::create_directories(topology);
    std::ofstream(topology / "thread_siblings_list") << siblings << "\n";
  };
  tell(0, "0,2");
  tell(1, "1,3");
  tell(2, "0,2");
  tell(3, "1,3");
  EXPECT_EQ(count_cores(std::array{0, 1, 2, 3}, folder.path()), 2);
  EXPECT_EQ(count_cores(std::array{0, 2}, folder.path()), 1);
  EXPECT_EQ(count_cores(std::array{2, 3}, folder.path()), 2);
  EXPECT_EQ(count_cores(std::array{0, 7, 8}, folder.path()), 3) << "nothing is told of two of them";
}

TEST(PhysicalCores, AreThoseThatTheProcessMayRunOn) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_GE(physical_cores(), 1);
  EXPECT_LE(physical_cores(), CPU_COUNT(&all));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(physical_cores(), 1);
  EXPECT_EQ(::sched_setaffinity(0, sizeof all, &all), 0);
}

}  // namespace
}
