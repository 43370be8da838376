#pragma once

#include <chrono>

// Internal to core/exec/equivalence.

namespace regraft::exec {

/// When runs end that a check can do without.
class Deadline {
 public:
  /// Seconds from now; never where these are infinite.
  explicit Deadline(double seconds) : end_s_(now_s() + seconds) {}

  bool is_over() const { return now_s() >= end_s_; }

 private:
  static double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  double end_s_;
};

}
