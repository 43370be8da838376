#include "learner/ppo/batcher.h"

#include <algorithm>
#include <numeric>

namespace regraft::learner {

void Batcher::add(Episode episode) {
  if (!seen_[episode.weight_version()].insert(episode.ticket.id).second) {
    ++trained_twice_;
    return;
  }
  steps_ += episode.step_count();
  const std::uint64_t key = options_.deterministic ? episode.ticket.sequence : arrivals_++;
  pending_.emplace(key, std::move(episode));
}

bool Batcher::ready(std::uint64_t update) const {
  if (!options_.deterministic)
    return options_.steps_per_update > 0 ? steps_ >= options_.steps_per_update
                                         : pending_.size() >= options_.episodes_per_update;
  const std::uint64_t first = update * options_.episodes_per_update;
  const auto begin = pending_.lower_bound(first),
             end = pending_.lower_bound(first + options_.episodes_per_update);
  return static_cast<std::uint64_t>(std::distance(begin, end)) == options_.episodes_per_update;
}

std::vector<Episode> Batcher::take(std::uint64_t update, std::uint64_t version, std::uint64_t staleness) {
  const auto begin =
      options_.deterministic ? pending_.lower_bound(update * options_.episodes_per_update) : pending_.begin();
  const auto end = options_.deterministic ? pending_.lower_bound((update + 1) * options_.episodes_per_update)
                                          : pending_.end();
  std::vector<Episode> batch;
  for (auto at = begin; at != end; ++at) {
    steps_ -= at->second.step_count();
    if (at->second.weight_version() + staleness < version)
      ++expired_;
    else
      batch.push_back(std::move(at->second));
  }
  pending_.erase(begin, end);
  seen_.erase(seen_.begin(), seen_.lower_bound(version - std::min(version, staleness)));
  return batch;
}

std::vector<Episode> Batcher::pending() const {
  std::vector<Episode> episodes;
  for (const auto& [key, episode] : pending_) episodes.push_back(episode);
  return episodes;
}

std::vector<std::size_t> draw_episodes(std::span<const Episode> batch, double share, Rng& rng) {
  std::vector<std::size_t> order(batch.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (share >= 1) return order;
  std::size_t steps = 0;
  for (const Episode& episode : batch) steps += episode.step_count();
  const double wanted = share * static_cast<double>(steps);
  double drawn = 0;
  std::size_t count = 0;
  for (; count < order.size() && drawn < wanted; ++count) {
    std::swap(order[count], order[count + rng.below(order.size() - count)]);
    drawn += static_cast<double>(batch[order[count]].step_count());
  }
  order.resize(count);
  std::ranges::sort(order);
  return order;
}

}
