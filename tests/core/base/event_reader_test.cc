#include "support/event_reader.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/base/atomic_file.h"
#include "core/base/event_writer.h"
#include "core/base/file.h"
#include "support/manual_clock.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;

class EventReader : public testing::Test {
 protected:
  TempDir folder_;
  ManualClock clock_;
};

TEST_F(EventReader, CurvesComeBackInOrder) {
  {
    EventWriter writer(folder_.path(), clock_);
    writer.scalar("a", 1, 0.5);
    writer.scalar("a", 300, -2);
    writer.scalar("b/c", 7, std::numeric_limits<double>::infinity());
    const double values[] = {1, 2};
    writer.histogram("h", 1, values);
  }
  const auto curves = read_scalars(folder_.path());
  ASSERT_EQ(curves.size(), 2u);
  ASSERT_EQ(curves.at("a").size(), 2u);
  EXPECT_EQ(curves.at("a")[1].step, 300);
  EXPECT_EQ(curves.at("a")[1].value, -2);
  EXPECT_EQ(curves.at("b/c")[0].value, std::numeric_limits<double>::infinity());
}

TEST_F(EventReader, AResumedRunsPointsReplaceThoseWrittenBefore) {
  fs::path first;
  {
    EventWriter writer(folder_.path(), clock_);
    first = writer.path();
    for (int step = 1; step <= 3; ++step) writer.scalar("a", step, 1);
  }
  fs::last_write_time(first, fs::last_write_time(first) - std::chrono::hours(1));
  {
    EventWriter writer(folder_.path(), clock_);
    for (int step = 3; step <= 4; ++step) writer.scalar("a", step, 2);
  }
  const auto points = read_scalars(folder_.path()).at("a");
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[1].value, 1);
  EXPECT_EQ(points[2].value, 2);
}

TEST_F(EventReader, WhatAResumeRolledBackIsCut) {
  fs::path first;
  {
    EventWriter writer(folder_.path(), clock_);
    first = writer.path();
    for (int step = 1; step <= 9; ++step) writer.scalar("a", step, 1);
    writer.scalar("only before", 8, 1);
  }
  fs::last_write_time(first, fs::last_write_time(first) - std::chrono::hours(2));
  fs::path second;
  {
    EventWriter writer(folder_.path(), clock_);  // resumed at 5, and stopped soon
    second = writer.path();
    for (int step = 5; step <= 7; ++step) writer.scalar("a", step, 2);
  }
  fs::last_write_time(second, fs::last_write_time(second) - std::chrono::hours(1));
  auto curves = read_scalars(folder_.path());
  ASSERT_EQ(curves.at("a").size(), 7u) << "8 and 9 were rolled back and not reached again";
  EXPECT_EQ(curves.at("a")[3].value, 1);
  EXPECT_EQ(curves.at("a")[4].value, 2);
  EXPECT_FALSE(curves.contains("only before"));

  EventWriter(folder_.path(), clock_).restart(3);  // resumed, and stopped before any point
  curves = read_scalars(folder_.path());
  ASSERT_EQ(curves.at("a").size(), 2u);
  EXPECT_EQ(curves.at("a").back().step, 2);
}

TEST_F(EventReader, EveryTornEndIsLeftOutAndEveryDamageBeforeItIsRefused) {
  fs::path path;
  {
    EventWriter writer(folder_.path(), clock_);
    path = writer.path();
    writer.scalar("a", 1, 1);
    writer.scalar("a", 2, 2);
  }
  const std::string bytes = read_file(path);
  std::size_t most = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    write_file_atomic(path, std::string_view(bytes).substr(0, size));
    const auto curves = read_scalars(folder_.path());
    const std::size_t points = curves.contains("a") ? curves.at("a").size() : 0;
    EXPECT_GE(points, most);
    EXPECT_LT(points, 2u);
    most = points;
  }
  EXPECT_EQ(most, 1u);
  std::string damaged = bytes;
  damaged[14] = static_cast<char>(damaged[14] ^ 1);
  write_file_atomic(path, damaged);
  EXPECT_THROW(read_scalars(folder_.path()), FileError);
  EXPECT_THROW(read_scalars(folder_.path() / "nowhere"), FileError);
}

}  // namespace
}
