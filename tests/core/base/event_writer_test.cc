#include "core/base/event_writer.h"

#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <variant>
#include <vector>

#include "core/base/atomic_file.h"
#include "core/base/crc32c.h"
#include "support/manual_clock.h"

namespace regraft {
namespace {

/// A protobuf message by field number, read without its schema.
using Message = std::multimap<int, std::variant<std::uint64_t, std::string>>;

Message parse(const std::string& bytes) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  Message message;
  while (const std::uint32_t tag = in.ReadTag()) {
    std::uint64_t number = 0;
    std::uint32_t small = 0;
    std::string text;
    switch (tag & 7) {
      case 0:
        EXPECT_TRUE(in.ReadVarint64(&number));
        break;
      case 1:
        EXPECT_TRUE(in.ReadLittleEndian64(&number));
        break;
      case 5:
        EXPECT_TRUE(in.ReadLittleEndian32(&small));
        number = small;
        break;
      default:
        EXPECT_EQ(tag & 7, 2u);
        EXPECT_TRUE(in.ReadVarint32(&small) && in.ReadString(&text, static_cast<int>(small)));
        message.emplace(static_cast<int>(tag >> 3), text);
        continue;
    }
    message.emplace(static_cast<int>(tag >> 3), number);
  }
  EXPECT_TRUE(in.ConsumedEntireMessage());
  return message;
}

std::string text_field(const Message& m, int field) {
  return std::get<std::string>(m.find(field)->second);
}
std::uint64_t bits(const Message& m, int field) {
  return std::get<std::uint64_t>(m.find(field)->second);
}
double real(const Message& m, int field) {
  return std::bit_cast<double>(bits(m, field));
}

std::vector<double> reals(const std::string& packed) {
  std::vector<double> values(packed.size() / sizeof(double));
  std::memcpy(values.data(), packed.data(), packed.size());
  return values;
}

/// The events of a file, as a reader must take them: both checksums right, a torn last record left out.
std::vector<Message> read_events(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  const auto part = [&](std::size_t at, std::size_t size) {
    return std::as_bytes(std::span(bytes.data() + at, size));
  };
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, size);
    return value;
  };
  std::vector<Message> events;
  std::size_t at = 0;
  while (at + 12 <= bytes.size()) {
    const std::uint64_t length = number(at, 8);
    EXPECT_EQ(masked_crc32c(part(at, 8)), number(at + 8, 4));
    if (at + 16 + length > bytes.size()) break;
    EXPECT_EQ(masked_crc32c(part(at + 12, length)), number(at + 12 + length, 4));
    events.push_back(parse(bytes.substr(at + 12, length)));
    at += 16 + length;
  }
  return events;
}

Message summary_value(const Message& event) {
  return parse(text_field(parse(text_field(event, 5)), 1));
}

TEST(EventWriter, WritesScalarsThatReadBack) {
  const TempDir dir;
  ManualClock clock(1'700'000'000'500'000'000);
  EventWriter writer(dir.path() / "run" / "tb", clock);
  writer.scalar("train/return", 7, 0.25);
  clock.advance_ns(nanoseconds_per_second);
  writer.scalar("train/loss", 1'000'000'000'000, -3.5);
  writer.scalar("train/loss", -1, std::numeric_limits<double>::quiet_NaN());
  writer.flush();
  const auto events = read_events(writer.path());
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(text_field(events[0], 3), "brain.Event:2");
  EXPECT_EQ(real(events[0], 1), 1'700'000'000.5);
  EXPECT_EQ(bits(events[1], 2), 7u);
  EXPECT_EQ(text_field(summary_value(events[1]), 1), "train/return");
  EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(bits(summary_value(events[1]), 2))), 0.25f);
  EXPECT_EQ(real(events[2], 1), 1'700'000'001.5);
  EXPECT_EQ(bits(events[2], 2), 1'000'000'000'000u);
  EXPECT_EQ(static_cast<std::int64_t>(bits(events[3], 2)), -1);
}

TEST(EventWriter, HistogramKeepsCountsMomentsAndBounds) {
  const TempDir dir;
  const ManualClock clock;
  EventWriter writer(dir.path(), clock);
  const std::vector<double> values{-2.0, 0.0, 0.5, 0.5, 3.0, std::numeric_limits<double>::infinity()};
  writer.histogram("weights", 1, values);
  writer.histogram("empty", 2, {});
  writer.flush();
  const auto events = read_events(writer.path());
  ASSERT_EQ(events.size(), 3u);
  const Message histogram = parse(text_field(summary_value(events[1]), 5));
  EXPECT_EQ(real(histogram, 1), -2.0);
  EXPECT_EQ(real(histogram, 2), 3.0);
  EXPECT_EQ(real(histogram, 3), 5.0);
  EXPECT_EQ(real(histogram, 4), 2.0);
  EXPECT_EQ(real(histogram, 5), 13.5);
  const auto limits = reals(text_field(histogram, 6)), counts = reals(text_field(histogram, 7));
  ASSERT_EQ(limits.size(), counts.size());
  EXPECT_EQ(counts.front(), 0.0);
  EXPECT_EQ(counts.back(), 1.0);
  for (std::size_t i = 1; i < limits.size(); ++i) {
    ASSERT_LT(limits[i - 1], limits[i]);
    double inside = 0;
    for (std::size_t v = 0; v < 5; ++v) inside += limits[i - 1] < values[v] && values[v] <= limits[i];
    EXPECT_EQ(counts[i], inside) << limits[i];
  }
}

TEST(EventWriter, EachWriterMakesItsOwnFile) {
  const TempDir dir;
  const ManualClock clock;
  EventWriter first(dir.path(), clock), second(dir.path(), clock);
  EXPECT_NE(first.path(), second.path());
}

TEST(EventWriter, ATornRecordHidesOnlyItself) {
  const TempDir dir;
  const ManualClock clock;
  EventWriter writer(dir.path(), clock);
  writer.scalar("a", 1, 1);
  writer.scalar("a", 2, 2);
  writer.flush();
  std::filesystem::resize_file(writer.path(), std::filesystem::file_size(writer.path()) - 3);
  EXPECT_EQ(read_events(writer.path()).size(), 2u);
}

TEST(EventWriter, FlushesByItselfWhenMuchIsPendingAndAtTheEnd) {
  const TempDir dir;
  const ManualClock clock;
  std::filesystem::path path;
  {
    EventWriter writer(dir.path(), clock);
    path = writer.path();
    for (int i = 0; i < 3000; ++i) writer.scalar("some/long/tag", i, i);
    EXPECT_GT(read_events(path).size(), 1u);
  }
  EXPECT_EQ(read_events(path).size(), 3001u);
}

TEST(EventWriter, RefusesAFolderThatCannotBeMade) {
  const TempDir dir;
  write_file_atomic(dir.path() / "file", "x");
  const ManualClock clock;
  EXPECT_THROW(EventWriter(dir.path() / "file" / "tb", clock), FileError);
}

}  // namespace
}
