#pragma once

#include <string>
#include <utility>
#include <vector>

#include "launch/experiment/spec.h"

namespace regraft::launch {

/// How far methods stay behind the best known of anyone, for each value of `by`: columns `by`, best, best_by,
/// then gap_METHOD for each method of the gap: 100 (cost - best cost) / best cost, the cost of a return r
/// being 1 - r; empty where there is none. A method's return is the highest that table `table` has of it, the
/// best known is the highest of that table and of those in `against`, by the row's method. Throws
/// ExperimentError on a column that is not there.
Table gaps(const ExperimentGap& gap, const std::vector<std::pair<std::string, Table>>& tables);

}  // namespace regraft::launch
