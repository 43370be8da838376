#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/nn/model/world_bundle.h"
#include "core/search/prior.h"
#include "core/task/workload.h"
#include "replay/dream/dream_validity.h"

namespace regraft::launch {

/// Episodes of one method on one model. Returns are relative improvements: 1 - final cost / initial cost.
struct Score {
  /// kind: random, script, the name of a search (random-search among them), or policy, policy-mode,
  /// policy-search, portfolio-search. An untrained policy's are untrained, untrained-policy-search and so on.
  std::string model, kind;
  std::string method;                   // for people
  std::vector<double> returns, best;    // of the last and of the best graph of each episode
  std::vector<double> memory;           // final peak memory / initial one
  std::uint64_t candidates_costed = 0;  // graphs that were asked for their cost
  double seconds = 0;
  nlohmann::json search =
      {};  // of searches: what ended it, and what had been found after how many candidates
};

/// Plays episodes with a prior, drawn from it, or always the most probable candidate.
Score play(const task::Task& task, const task::WorkloadOptions& workload, search::Prior& prior, bool draw,
           int episodes, std::uint64_t seed, const std::string& kind, const std::string& method);

/// Episodes of a controller that a bundle holds.
Score play_bundle(const task::Task& task, const task::WorkloadOptions& workload,
                  const nn::WorldBundle& bundle, nn::ActionSelection selection, int episodes,
                  std::uint64_t seed, const std::string& kind, const std::string& method);

/// Where a script leads; nothing where the task's rules leave out those that it wants.
std::optional<Score> play_script(const std::filesystem::path& path, const task::Task& task);

/// One line of the table that people read.
void print(const Score& score);
nlohmann::json to_json(const Score& score);

}
