#pragma once

// Internal to core/proof: how Z3's work is bounded.

#include <z3++.h>

#include <cstdint>

namespace regraft::proof {

/// Z3's own units of work, which are the same on every machine, bound each query (`rlimit`). There are loops
/// in its arithmetic that count no work and do not end (of reshape-up-unary, say): this ends them, and no
/// query that works, which takes tenths of a second.
inline constexpr unsigned kEndlessMilliseconds = 20000;

/// Bounds every query of this process by kEndlessMilliseconds, once.
void set_time_limit();

/// Limits of one query, or of all queries of one solver together.
inline z3::params limits_of(z3::context& context, unsigned work) {
  z3::params params(context);
  params.set("rlimit", work);
  params.set("timeout", kEndlessMilliseconds);
  return params;
}

/// What Z3 has done so far in the solver's context, in its own units.
inline std::uint64_t work_of(const z3::solver& solver) {
  const z3::stats stats = solver.statistics();
  for (unsigned i = 0; i < stats.size(); ++i) {
    if (stats.key(i) == "rlimit count") return stats.uint_value(i);
  }
  return 0;
}

}
