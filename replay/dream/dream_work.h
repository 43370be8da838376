#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/nn/inference/dream.h"
#include "replay/dream/branch.h"
#include "replay/rollout/byte_reader.h"

namespace regraft::replay {

/// What a learner wants done with a bundle beyond playing its controller from the beginning: individuals of
/// an evolution to be measured, or points of real episodes to branch off. Travels in the bundle.
struct DreamWork {
  std::vector<std::vector<float>> individuals;  // queries of a linear controller
  std::vector<Branch> branches;

  bool empty() const { return individuals.empty() && branches.empty(); }
};
Bytes encode_work(const DreamWork& work);
/// No bytes: no work. Throws ReplayError on damage.
DreamWork decode_work(std::span<const std::byte> bytes);

/// How one individual fared: what a ticket of an evolution is answered with.
struct DreamReturns {
  std::uint64_t ticket = 0, generation = 0, weight_version = 0;
  std::uint64_t sequence = 0;
  std::uint64_t steps = 0;
  std::vector<float> returns;  // of its episodes, at least 1

  bool operator==(const DreamReturns&) const = default;
};
Bytes encode_returns(const DreamReturns& returns);
/// Throws ReplayError on anything else, returns that are not finite among it.
DreamReturns decode_returns(std::span<const std::byte> bytes);

/// What a ticket is answered with whose bundle mixes versions, and so cannot be played.
Bytes encode_refused_bundle();
bool is_refused_bundle(std::span<const std::byte> bytes);

/// Tickets of a generation go round the models, then the individuals.
constexpr std::size_t individual_of(std::uint64_t sequence, std::size_t models, std::size_t individuals) {
  return static_cast<std::size_t>(sequence / models % individuals);
}

/// One drawn episode from each start, side by side, to its end; returns and steps. Draws depend on `seed`
/// and the episode's number alone.
DreamReturns measure_returns(nn::Dream& dream, nn::DreamPlayer& player,
                             std::span<const nn::DreamStart> starts, std::uint64_t seed);

}
