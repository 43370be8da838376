#include "core/base/resource_usage.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace regraft {
namespace {

TEST(ResourceUsage, SeesMemoryAndAddsTimes) {
  EXPECT_GT(peak_rss_bytes(), 1'000'000u);
  EXPECT_GE(peak_rss_bytes_with_children(), peak_rss_bytes());
  rusage usage{};
  usage.ru_utime = {2, 250'000};
  usage.ru_stime = {1, 500'000};
  EXPECT_DOUBLE_EQ(cpu_seconds(usage), 3.75);
}

TEST(ResourceUsage, TellsTheCpuTimeOfEachThread) {
  std::atomic<pid_t> number = 0;
  const std::jthread busy([&](const std::stop_token& stopped) {
    number = ::gettid();
    while (!stopped.stop_requested()) {
    }
  });
  while (number == 0) {
  }
  const std::uint64_t begin_ns = thread_cpu_ns().at(number);
  while (thread_cpu_ns().at(number) < begin_ns + 20'000'000) {
  }
  EXPECT_TRUE(thread_cpu_ns().contains(::getpid()));
  EXPECT_GT(cpu_seconds(), 0.01);
}

}  // namespace
}
