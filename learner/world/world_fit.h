#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/nn/inference/policy.h"
#include "core/nn/model/world_model.h"
#include "core/wire/group.h"
#include "learner/world/world_context.h"
#include "learner/world/world_data.h"
#include "learner/world/world_metrics.h"
#include "learner/world/world_options.h"
#include "replay/rollout/byte_reader.h"
#include "replay/rollout/sequence_replay.h"

namespace regraft::learner {

/// Fits a world model to a replay, in stages: encoder, recurrent model, reward network (where there is one).
/// One update at a time, so that whoever drives it can save and stop between any two. Everything follows from
/// the options' seed and the replay in its order: a fit that was saved and restored ends in the same bits as
/// one that was not (one torch thread, CPU). One thread.
class WorldFit {
 public:
  enum class Stage : std::uint8_t { encoder, dynamics, reward, done };

  /// Replays all episodes. Throws replay::ReplayError, and NnError where a model of the context has none, or
  /// where it cannot `compute` so.
  WorldFit(WorldContext context, const replay::SequenceReplay& replay, const WorldOptions& options,
           EnvironmentOf environment_of, const nn::PolicyOptions& compute = {.device = "cpu"});
  ~WorldFit();
  /// From now on the members of the group share the work of each update. All are fits of the same replay and
  /// options, are called with the same, and come to the same weights.
  void share_with(std::shared_ptr<wire::Group> group);

  /// One update, with held-out figures where they are due. False once all is done. `time_share` is how much
  /// of the time for the fit is over; 0 without a limit. Each stage's part of it is its part of the updates.
  /// Rates fall with that time where it goes faster than the updates, and the first update behind it is the
  /// stage's last. Throws NnError where a gradient is not finite: all is then as it was before that update.
  bool advance(double time_share = 0);
  Stage stage() const { return stage_; }
  /// Over all stages.
  std::uint64_t updates_done() const;
  /// As many as there are to be, where no limit of time ends a stage before.
  std::uint64_t updates_in_all() const { return updates_until(Stage::done); }
  /// For people: stage, update, newest held-out figures.
  std::string status() const;

  /// Figures of the newest update, where they were due, by the name of their curves: "encoder/train_cost",
  /// "dynamics/held_out_nll", "reward/held_out_apart".
  std::vector<std::pair<std::string, double>> newest_figures() const;

  /// Episodes that could not be replayed and were left out.
  std::uint64_t lost_episodes() const;

  /// Weights of the stage, and the figures that what is fitted to has been scaled by.
  std::vector<float> values() const;
  /// Once done; checked.
  nn::WorldModel world() const;
  /// Once the recurrent model is fitted.
  std::vector<DepthFigures> open_loop_figures(std::uint32_t depths) const;
  /// encoder.csv, dynamics.csv, reward.csv and, once done, open_loop.csv. Throws FileError.
  void write_figures(const std::filesystem::path& folder) const;

  replay::Bytes save() const;
  /// On a fit of the same replay and options. Throws replay::ReplayError.
  void restore(std::span<const std::byte> bytes);

 private:
  struct Parts;
  /// How far an update lies in its stage.
  struct Place {
    bool last = false;
    std::uint64_t rate_at = 0;  // the update that would lie so far without a limit of time
  };
  Place place_at(double time_share) const;
  void encoder_update(const Place& place);
  void dynamics_update(const Place& place);
  void reward_update(bool last);
  void enter(Stage stage);
  /// The updates that all stages before this one are to make.
  std::uint64_t updates_until(Stage stage) const;
  bool due(bool last) const { return last || update_ % options_.evaluate_every == 0; }
  std::size_t first_episode(std::uint32_t model) const;

  WorldContext context_;
  WorldOptions options_;
  Stage stage_ = Stage::encoder;
  std::uint64_t update_ = 0;  // of the stage
  std::unique_ptr<Parts> parts_;
  std::vector<std::string> encoder_lines_, dynamics_lines_, reward_lines_;
  const std::vector<std::string>* newest_ = nullptr;  // lines of the last update, where one was added
};

}
