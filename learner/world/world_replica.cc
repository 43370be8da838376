#include "learner/world/world_replica.h"

#include <limits>
#include <utility>

namespace regraft::learner {

WorldReplica::WorldReplica(const CollectSetup& setup, EnvironmentOf environment_of)
    : setup_(setup), environment_of_(std::move(environment_of)) {}

void WorldReplica::start(const replay::SequenceReplay& replay, std::span<const std::byte> saved) {
  fit_ = std::make_unique<WorldFit>(setup_.context, replay, setup_.world, environment_of_,
                                    nn::PolicyOptions{.device = setup_.job.options.device});
  if (group_) fit_->share_with(group_);
  if (!saved.empty()) fit_->restore(saved);
}

void WorldReplica::share_with(std::shared_ptr<wire::Group> group) {
  group_ = std::move(group);
}

void WorldReplica::restore(std::span<const std::byte> state) {
  replay::ByteReader in(state);
  replay::SequenceReplay::Options whole;
  whole.memory_bytes = std::numeric_limits<std::size_t>::max();
  replay::SequenceReplay replay(whole);
  replay.restore(in.raw(in.count()));
  start(replay, in.raw(in.left()));
}

void WorldReplica::follow(std::span<const std::byte> data) {
  replay::ByteReader in(data);
  fit_->advance(in.value<double>());
}

std::vector<float> WorldReplica::values() const {
  return fit_->values();
}

std::vector<std::byte> encode_world_start(const replay::SequenceReplay& replay,
                                          std::span<const std::byte> saved) {
  const replay::Bytes episodes = replay.save();
  std::vector<std::byte> bytes;
  replay::ByteWriter out(bytes);
  out.varint(episodes.size());
  out.raw(episodes);
  out.raw(saved);
  return bytes;
}

std::vector<std::byte> encode_world_update(double time_share) {
  const auto bytes = std::as_bytes(std::span(&time_share, 1));
  return {bytes.begin(), bytes.end()};
}

}
