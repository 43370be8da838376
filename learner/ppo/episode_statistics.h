#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "learner/job/curve_point.h"
#include "learner/ppo/episode.h"

namespace regraft::learner {

/// What episodes gave, by model: means over the last `window` episodes for people, one point an update for
/// curves.
class EpisodeStatistics {
 public:
  explicit EpisodeStatistics(std::vector<std::string> model_names, std::size_t window = 100)
      : names_(std::move(model_names)), window_(window) {}

  void add(std::span<const Episode> batch, std::uint64_t version);
  /// Curves of the last batch: return/<model>, final_cost_ratio/<model>, best_cost_ratio/<model>,
  /// episode_length/<model>, and staleness.
  void add_to(CurvePoint& point) const;

  /// The window and the best ratios, for checkpoints; restore() reads what save() gave.
  nlohmann::json save() const;
  void restore(const nlohmann::json& saved);

  /// Over the window and all models; 0 before the first episode.
  double mean_return() const;
  /// Least final cost ratio seen, by model; 1 before the first episode.
  double best_cost_ratio(std::size_t model) const;
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Sums {
    double episode_return = 0, final_ratio = 0, best_ratio = 0, length = 0;
    std::size_t episodes = 0;
  };

  std::vector<std::string> names_;
  std::size_t window_;
  std::deque<double> returns_;
  std::map<std::size_t, double> best_;
  std::map<std::size_t, Sums> batch_;
  std::vector<double> staleness_;
};

}
