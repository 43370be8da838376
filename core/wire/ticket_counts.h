#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace regraft::wire {

/// What became of the tickets of one generation.
///   issued = admitted + stale + rejected + dropped + lost + outstanding;  admitted = retained + rolled_back
/// Late and duplicate results are outside both.
struct TicketCounts {
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

  bool operator==(const TicketCounts&) const = default;
  /// One line for each equation that does not hold; empty when the ticket counts balance.
  std::vector<std::string> check() const;
  TicketCounts& operator+=(const TicketCounts& other);
};

/// The ticket counts of a whole job.
struct JobTicketCounts {
  std::vector<TicketCounts> generations;

  bool operator==(const JobTicketCounts&) const = default;
  TicketCounts total() const;
  /// As TicketCounts::check(), over all generations; only the last may have tickets outstanding.
  std::vector<std::string> check() const;
  /// For people: a line a generation, a total, and whether they balance.
  std::string table() const;
};

}
