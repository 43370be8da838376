#pragma once

// Internal to core/exec: how far the two sides of a rewrite may differ, and what its floating constants may
// be.

#include <span>
#include <string>

#include "core/exec/site/fragment.h"
#include "core/exec/site/site.h"
#include "core/graph/graph.h"

namespace regraft::exec {

/// Relative error that reordering fp64 sums leaves on any site seen here, with a large margin.
inline constexpr double kSiteTolerance = 1e-9;
/// The tolerance where the rewrite made floating constants. They are rounded to the model's type (2^-24 for
/// float32, 2^-11 for float16, 2^-8 for bfloat16). So equality holds only up to a few such roundings.
double made_constant_tolerance(graph::DType dtype);

/// The tolerance of a site: where the rewrite made floating constants, their rounding is allowed for.
double site_tolerance(const graph::Graph& after, const Site& site, std::span<const graph::Value> replaced);

/// What lies out of the range of its type among the constants that the right side reads, which fp64 does not
/// show; empty where nothing does.
std::string range_problem(const graph::Graph& after, const Site& site, std::span<const graph::Value> replaced,
                          TorchWeights& weights);

}
