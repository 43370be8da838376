#pragma once

#include <functional>
#include <string>

#include "core/rulegen/enumerate/generation.h"

namespace regraft::rulegen {

/// Enumerates, pairs, prunes and checks. The same options (threads, memory, folder and time aside) give the
/// same rules; where the limit of time or memory ends it early none, but the units that were done, and by the
/// limit of time parts of units, stay in the folder; the same options go on from there, where memory ended it
/// with more memory or fewer threads. Pruning and checking are done at once: their time has to suffice.
/// Throws RulegenError, FileError.
Generation generate_rules(const GenerateOptions& options,
                          const std::function<void(const std::string&)>& progress);

}  // namespace regraft::rulegen
