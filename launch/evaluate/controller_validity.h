#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "core/base/config.h"
#include "core/nn/model/world_bundle.h"
#include "core/task/workload.h"
#include "replay/dream/dream_validity.h"

namespace regraft::launch {

/// Plays dreams of a bundle's controller again in the real environment. Episodes are as long, with as many
/// locations and the same rewards. All else is as `workload` and the options `dream.*` of `config` say.
replay::DreamValidity validity_of(const nn::WorldBundle& bundle, const task::Task& task,
                                  task::WorkloadOptions workload, const Config& config, int trajectories,
                                  std::uint64_t seed);

nlohmann::json to_json(const replay::DreamValidity& validity);

}
