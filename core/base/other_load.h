#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace regraft {

/// Seconds of all processors together that were not idle since the machine started, by the text of
/// /proc/stat (man 5 proc): what processes and the system ran, and what other guests of the host took
/// ("steal"). `ticks` are those of a second. Nothing where the text is of another kind.
std::optional<double> busy_seconds(std::string_view stat, double ticks);

/// How many processors are kept busy by others than this process: times that are measured meanwhile are
/// those of a busy machine. The system counts in steps of 10 ms.
class OtherLoad {
 public:
  /// Counts from now on.
  OtherLoad();

  /// The mean since then; 0 where the system does not tell.
  double processors() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<double> others_s_;  // so far
};

/// Other work of so many processors disturbs measurements: a quarter of one, or a tenth of all.
double disturbing_processors();

}  // namespace regraft
