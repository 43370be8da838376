#pragma once

#include <cstdint>
#include <string>

#include "core/graph/graph.h"
#include "core/rules/rewrite/rewriter.h"

namespace regraft::exec {

/// Threads that check_site's operations may use in this process; LibTorch's own default is one a core. On a
/// machine that others use, 1 is faster: LibTorch's threads wait for each other by spinning.
void set_oracle_threads(int threads);

struct SiteOptions {
  std::uint64_t seed = 0;
  int draws = 2;  // inputs drawn, more for small sites: one standard normal, others four times as wide
  graph::Bindings bindings;  // sizes of symbols; 1 where not given
};

struct SiteReport {
  bool passes = false;
  double relative_error = 0;  // the largest over the replaced values
  double tolerance = 0;
  std::string reason;  // names the value that differs, or what could not be run
  bool alone = true;   // what the graph computes around the site counts for nothing
};

/// Checks one rewrite: what it replaced against what it put there. Both run in fp64 on the site's actual
/// shapes, with the model's real weights. Where these shapes have symbols, they get their given sizes, or 3
/// where none is given, and also a few smaller ones. `before` is the graph as it was (a copy, or the graph
/// after undo), `after` the rewritten one; both share ids and Tables. The matched nodes run on random values
/// of the pattern's outer inputs. What the right side takes from nodes of the left side comes from the same
/// run. Integer inputs that look something up stay in range; booleans are fair coins. Never throws for a
/// wrong rewrite: what cannot be run does not pass.
SiteReport check_site(const graph::Graph& before, const graph::Graph& after, const rules::Rewrite& rewrite,
                      const SiteOptions& options);

}
