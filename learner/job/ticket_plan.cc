#include "learner/job/ticket_plan.h"

#include <string>

#include "core/base/rng.h"

namespace regraft::learner {

std::optional<wire::TicketSpec> TicketPlan::next(std::uint64_t version) {
  const MutexLock lock(mutex_);
  if (options_.weights && version == 0) return std::nullopt;
  if (options_.deterministic && position_ / options_.episodes_per_update + 1 > version) return std::nullopt;
  wire::TicketSpec spec;
  spec.model = static_cast<std::uint32_t>(position_ % options_.models);
  const std::string stream = options_.common_seeds
                                 ? "round " + std::to_string(position_ / options_.episodes_per_update) +
                                       " model " + std::to_string(spec.model)
                                 : "ticket " + std::to_string(position_);
  spec.seed = Rng(options_.seed, stream).next();
  spec.weight_version = options_.weights ? version : 0;
  spec.segment_length = options_.segment_length;
  spec.sequence = position_++;
  return spec;
}

std::uint64_t TicketPlan::position() const {
  const MutexLock lock(mutex_);
  return position_;
}

void TicketPlan::resume(std::uint64_t updates, std::uint64_t saved_position) {
  move_to(options_.deterministic ? updates * options_.episodes_per_update : saved_position);
}

void TicketPlan::move_to(std::uint64_t position) {
  const MutexLock lock(mutex_);
  position_ = position;
}

}
