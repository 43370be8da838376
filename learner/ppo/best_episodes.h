#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "learner/ppo/episode.h"

namespace regraft::learner {

/// The episodes of the highest return so far, of each model, for self-imitation: what was found once, by
/// chance, in thousands of episodes is not forgotten before it is learnt. Of equal returns the episode of
/// fewer steps is kept, so that all that are kept differ. Only terminated ones: of others the return is not
/// known. One thread.
class BestEpisodes {
 public:
  /// `kept` of each model, at least 1.
  explicit BestEpisodes(std::size_t kept) : kept_(kept) {}

  /// Copies the episode where it is among the best; a run that was resumed keeps the same bits as one that
  /// was not.
  void look(const Episode& episode);
  /// The segments of at most so many models, episode by episode: of all in their order, or of some drawn at
  /// random.
  std::vector<replay::Segment> draw(std::size_t models, Rng& rng) const;
  std::size_t size() const;

  std::vector<std::byte> save() const;
  /// As they were saved, as many of each model as are kept now. Throws replay::ReplayError; this object is
  /// then unchanged.
  void restore(std::span<const std::byte> bytes);

 private:
  std::size_t kept_;
  std::map<std::uint32_t, std::vector<Episode>> by_model_;  // best first
};

}
