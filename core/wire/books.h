#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace regraft::wire {

/// What became of the tickets of one generation.
///   issued = admitted + stale + rejected + dropped + lost + outstanding;  admitted = retained + rolled_back
/// Late and duplicate results are outside both.
struct Books {
  std::uint64_t generation = 0;
  std::uint64_t issued = 0;
  std::uint64_t admitted = 0;
  std::uint64_t stale = 0;
  std::uint64_t rejected = 0;
  std::uint64_t dropped = 0;  // at shutdown
  std::uint64_t lost = 0;
  std::uint64_t outstanding = 0;
  std::uint64_t retained = 0;
  std::uint64_t rolled_back = 0;  // admitted after the checkpoint that was resumed
  std::uint64_t late = 0;
  std::uint64_t duplicates = 0;  // results of tickets that had been decided

  bool operator==(const Books&) const = default;
  /// One line for each equation that does not hold; empty when the books balance.
  std::vector<std::string> check() const;
  Books& operator+=(const Books& other);
};

/// The books of a whole job.
struct JobBooks {
  std::vector<Books> generations;

  bool operator==(const JobBooks&) const = default;
  Books total() const;
  /// As Books::check(), over all generations; only the last may have tickets outstanding.
  std::vector<std::string> check() const;
  /// For people: a line a generation, a total, and whether they balance.
  std::string table() const;
};

}  // namespace regraft::wire
