#pragma once

#include <stop_token>

#include "core/base/clock.h"
#include "core/wire/link.h"
#include "learner/controller/dream_options.h"
#include "learner/controller/dream_phase.h"

namespace regraft::launch {

using learner::kControllerKind;
using learner::kDreamKind;

/// Whether a config's phase is `dream` or `dyna`.
bool is_dream_phase(const Config& config);

/// Throws UsageError where such a phase lacks actors of a kind that it needs, or has some of no use; so many
/// dream, so many play real episodes.
void check_dream_actors(const Config& config, std::int64_t dreaming, std::int64_t real);

/// What the learner of these phases needs, from the config: loads rules, not models.
learner::DreamPhaseSetup dream_setup(const learner::RunFolder& folder, const Config& config);

/// An actor of the phase `dream` on a link whose kind is one of the above.
void run_dream_actor(wire::Link& link, const std::string& kind, const Config& config, const Clock& clock,
                     const std::stop_token& stopped);

}  // namespace regraft::launch
