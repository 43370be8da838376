#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "support/event_reader.h"

namespace regraft::launch::testing {

/// The newest value of each curve of a folder of events.
inline std::map<std::string, double> newest(const std::filesystem::path& events) {
  std::map<std::string, double> values;
  for (const auto& [tag, points] : read_scalars(events)) values[tag] = points.back().value;
  return values;
}

/// What a job of any phase shows of itself while it runs.
inline void expect_job_curves(const std::filesystem::path& events) {
  const std::map<std::string, double> values = newest(events);
  SCOPED_TRACE(events);
  for (const char* tag :
       {"ledger/issued", "ledger/admitted", "ledger/stale", "ledger/rejected", "ledger/dropped",
        "ledger/lost", "ledger/outstanding", "ledger/late", "queue/deliveries", "queue/tickets",
        "wire/actors", "wire/bytes_in", "wire/bytes_out", "train/cpu_seconds"})
    EXPECT_TRUE(values.contains(tag)) << tag;
  for (const char* tag :
       {"ledger/admitted", "wire/actors", "wire/bytes_in", "wire/bytes_out", "train/cpu_seconds"})
    EXPECT_GT(values.contains(tag) ? values.at(tag) : 0, 0) << tag;
  double fastest = 0;
  for (const auto& [tag, points] : read_scalars(events))
    if (tag.starts_with("steps_per_s/actor-"))
      for (const ScalarPoint& point : points) fastest = std::max(fastest, point.value);
  EXPECT_GT(fastest, 0) << "no actor's steps a second";
}

}
