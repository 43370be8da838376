#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "core/base/clock.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {

/// Ranks of an MPI job whose actors join a relay, and its name. Rank 0 writes the plan into the run folder
/// and broadcasts its mark: in one broadcast there is no room for it.
using RelayPlan = std::map<std::int64_t, std::string>;

/// The relay of the host whose first actor has this rank; 0: of a job without mpirun.
std::string relay_name(std::int64_t rank);

/// `mode`: as wire.relay. `networks`: of each rank, as wire::own_network() has it there; ranks from
/// `first_actor` on act. The first of those on one network has its relay.
RelayPlan make_relay_plan(const std::string& mode, std::span<const std::string> networks,
                          std::size_t first_actor);

/// Whole or not at all. Returns the plan's mark. Throws FileError.
std::string save_relay_plan(const learner::RunFolder& folder, const RelayPlan& plan);

/// The plan of this mark, once it is there: other machines may see the run folder late. Throws LaunchError
/// where it has not come in time.
RelayPlan await_relay_plan(const learner::RunFolder& folder, const std::string& mark, const Clock& clock,
                           std::chrono::seconds patience = std::chrono::seconds(120));

}
