#pragma once

#include "launch/call/call_files.h"
#include "launch/optimise/optimise_options.h"
#include "launch/optimise/optimise_report.h"

namespace regraft::launch {

///   import -> sizes and inputs -> runtime -> clean-up -> profile -> search -> check of every rewrite site
///   -> profile of what was found -> search ... -> trials -> export aside
///   -> whole-model check in a process of its own -> replay of the log -> measurement -> output
/// A rewrite that a site's check refuses is reported and left out. If that is not enough, its rule is, and
/// the search is made again. When the whole model differs, bisection finds the rewrite that is to blame, and
/// it is left out in the same way (blame.h). The bodies of If, Loop and Scan pass through all of this beside
/// the main graph. A script (script.h) takes the place of the search and passes the same checks; it is for
/// the main graph alone. A refusal then ends with NotEquivalentError, which names the tensor and the rule.
/// What is not accepted becomes a byte copy of the input; so does a model that runs at no sizes. With the
/// runtime "auto" all steps are for one runtime after another, and the fastest result is written. Any failure
/// leaves no output. `files` are those of the call: no output may be external data of the input.
OptimiseReport optimise(const OptimiseOptions& options, const CallFiles& files = {});

}
