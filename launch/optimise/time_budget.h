#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace regraft::launch {

/// How the seconds of one call are shared out among its parts. A part may have seconds of its own: it keeps
/// them, and what they exceed its share by is added to the whole.
struct TimeBudget {
  double seconds = 120;                                          // aimed at for the whole
  std::optional<double> search = {}, trials = {}, measure = {};  // of their own

  /// All turns, where what came before them took so much: what is left, and at least a quarter of the whole.
  double turns_s(double before_s) const;
  /// All searches from the start on.
  double search_s() const;
  /// Trials, where so much was spent and what follows needs so much: what is left, at most their share.
  double trials_s(double spent_s, double needed_s) const;
  /// The measurement at one of the sizes, where those at the sizes behind it follow. At the first it has
  /// twice as much as at each other.
  double measure_s(double spent_s, std::size_t point = 0, std::size_t points = 1) const;
  /// EquivalenceOptions::probe_s, where the other runs of the check and the measurement need so much.
  double probes_s(double spent_s, double needed_s) const;
  /// What is left for parts without seconds of their own; negative where more was spent.
  double left_s(double spent_s) const;
};

/// What one of several turns has: an equal share of what those before it left, for as many as have half of an
/// equal share of all then. Nothing where not even this one has it. One turn has all.
double share_of_turn(double all_s, double spent_s, std::size_t turn, std::size_t turns);

/// What it takes to check and to measure a result whose runs take so long at each of the sizes, by so many
/// threads: estimated. The check has one thread, on which they take up to 4 times as long.
double seconds_to_confirm(std::span<const double> run_s, int threads = 1);

}
