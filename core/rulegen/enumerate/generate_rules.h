#pragma once

#include <functional>
#include <string>

#include "core/rulegen/enumerate/generation.h"

namespace regraft::rulegen {

/// Enumerates, pairs, prunes and checks. The same options give the same rules, whatever threads, memory,
/// folder and time. Where the limit of time or memory ends it early, it gives no rules. Finished units stay
/// in the folder, and at the limit of time parts of units too. The same options go on from there; after the
/// limit of memory, give more memory or fewer threads. Pruning and checking are not resumed: their time has
/// to suffice. Throws RulegenError, FileError.
Generation generate_rules(const GenerateOptions& options,
                          const std::function<void(const std::string&)>& progress);

}
