#pragma once

#include <cstdint>
#include <deque>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/clock.h"

namespace regraft {

/// True when the descriptor is a terminal a person looks at.
bool is_terminal(int fd);

/// "47s", "5m 12s", "3h 02m".
std::string format_duration(double seconds);

struct ProgressOptions {
  std::string label{};      // what is going on: "training"
  std::string unit{};       // of the counts: "updates"
  std::uint64_t total = 0;  // 0: not known, so no share and no ETA
  bool terminal = false;    // rewrite one line, often; else plain lines, seldom
  double terminal_interval_s = 0.2;
  double log_interval_s = 10.0;
};

/// Reports a long job as it goes: count, share, rate over the last 30 s, time to go, and a note of the job's
/// own. Used by one thread; the stream and the clock outlive it.
class Progress {
 public:
  Progress(ProgressOptions options, const Clock& clock, std::ostream& out);

  /// `done` items so far, never fewer than before; prints when the interval has passed. Cheap enough for
  /// inner loops.
  void update(std::uint64_t done, std::string_view note = {});
  /// Prints the last line, with the whole time and the mean rate.
  void finish(std::string_view note = {});

 private:
  std::string line(std::string_view note) const;
  std::string counted() const;
  double recent_rate() const;
  void print(const std::string& text, bool last);

  ProgressOptions options_;
  const Clock& clock_;
  std::ostream& out_;
  const std::int64_t start_ns_;
  std::int64_t printed_ns_;
  std::uint64_t done_ = 0;
  std::deque<std::pair<std::int64_t, std::uint64_t>>
      samples_;  // (time, done), at most 30 s old but for the first
};

}
