#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

namespace regraft {

/// Seconds that the processors of these numbers were not idle since the machine started, by the text of
/// /proc/stat (man 5 proc): what processes and the system ran, and what other guests of the host took
/// ("steal"). `ticks` are those of a second. Nothing where the text has none of them.
std::optional<double> busy_seconds(std::string_view stat, double ticks, const std::vector<int>& processors);

/// How many of the processors that this process may use are kept busy by others: times that are measured
/// meanwhile are those of a busy machine. Children that have ended are no others. The system counts in ticks
/// of 10 ms.
class OtherLoad {
 public:
  /// Counts from now on.
  OtherLoad();

  /// The mean since then, but for a few ticks that any machine has; 0 where the system does not tell.
  double processors() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<double> others_s_;  // so far
};

/// Other work of so many processors disturbs measurements: a quarter of one, or a tenth of those that this
/// process may use.
double disturbing_processors();

}
