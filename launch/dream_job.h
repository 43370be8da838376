#pragma once

#include <stop_token>

#include "core/base/clock.h"
#include "core/wire/link.h"
#include "launch/job.h"

namespace regraft::launch {

/// Kinds of actors of the phase `dream`, as they introduce themselves.
inline constexpr char kDreamKind[] = "dream";
inline constexpr char kControllerKind[] = "controller";  // in real environments

/// Whether a config's phase is `dream`.
bool is_dream_phase(const Config& config);

/// The learner's worker process of the phase `dream`, to its end; an exit code.
int run_dream_learner(const learner::RunFolder& folder, const Config& config);

/// An actor of the phase `dream` on a link whose kind is one of the above.
void run_dream_actor(wire::Link& link, const std::string& kind, const Config& config, const Clock& clock,
                     const std::stop_token& stopped);

}  // namespace regraft::launch
