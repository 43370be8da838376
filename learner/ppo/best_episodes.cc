#include "learner/ppo/best_episodes.h"

#include <algorithm>
#include <cmath>

namespace regraft::learner {
namespace {

constexpr float kSameReturn = 1e-6F;

bool same_return(const Episode& a, const Episode& b) {
  return std::abs(a.end().episode_return - b.end().episode_return) < kSameReturn;
}

/// The episode under its place in the order of tickets alone: which learner issued the ticket, and as which,
/// is another after a restart.
Episode numbered_by_place(Episode episode) {
  episode.ticket.id = episode.ticket.sequence + 1;
  episode.ticket.generation = 0;
  for (replay::Segment& segment : episode.segments) {
    segment.ticket = episode.ticket.id;
    segment.generation = episode.ticket.generation;
  }
  return episode;
}

}  // namespace

void BestEpisodes::look(const Episode& episode) {
  if (episode.segments.empty() || !episode.end().steps.back().terminated) return;
  std::vector<Episode>& kept = by_model_[episode.ticket.model];
  const auto no_longer = [&](const Episode& other) {
    return same_return(other, episode) && other.step_count() <= episode.step_count();
  };
  if (std::ranges::any_of(kept, no_longer)) return;
  std::erase_if(kept, [&](const Episode& other) { return same_return(other, episode); });
  const auto place = std::ranges::find_if(
      kept, [&](const Episode& other) { return other.end().episode_return < episode.end().episode_return; });
  if (place == kept.end() && kept.size() >= kept_) return;
  kept.insert(place, numbered_by_place(episode));
  if (kept.size() > kept_) kept.pop_back();
}

std::vector<replay::Segment> BestEpisodes::draw(std::size_t models, Rng& rng) const {
  std::vector<replay::Segment> all;
  std::size_t left = by_model_.size(), wanted = std::min(models, left);
  for (const auto& [model, kept] : by_model_) {
    // Each of those left is as likely as any other to be among those still wanted (Knuth's algorithm S).
    const bool drawn = wanted == left || rng.below(left) < wanted;
    --left;
    if (!drawn) continue;
    --wanted;
    for (const Episode& episode : kept)
      all.insert(all.end(), episode.segments.begin(), episode.segments.end());
  }
  return all;
}

std::size_t BestEpisodes::size() const {
  std::size_t count = 0;
  for (const auto& [model, kept] : by_model_) count += kept.size();
  return count;
}

std::vector<std::byte> BestEpisodes::save() const {
  std::vector<Episode> all;
  for (const auto& [model, kept] : by_model_) all.insert(all.end(), kept.begin(), kept.end());
  return encode_episodes(all);
}

void BestEpisodes::restore(std::span<const std::byte> bytes) {
  BestEpisodes saved(kept_);
  for (Episode& episode : decode_episodes(bytes)) {
    std::vector<Episode>& kept = saved.by_model_[episode.ticket.model];
    if (kept.size() < kept_) kept.push_back(std::move(episode));
  }
  *this = std::move(saved);
}

}
