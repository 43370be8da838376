#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/base/config.h"
#include "core/nn/model/world_bundle.h"
#include "launch/evaluate/controller_choice_options.h"
#include "learner/job/run_folder.h"
#include "replay/dream/dream_validity.h"

namespace regraft::launch {

// The step `choice` of the phase `model-based`. A controller that trains on in its dream ends up exploiting
// it, and no figure of the dream says when. So the controllers of the last round's dream, as they were every
// few updates, are held against the real environment by a few dreams each:
//   DREAM/policies/update-K.world, latest.world -> RUN/choice.json -> RUN/policies/latest.world
// What that takes counts as training of the one that is kept.

/// A controller after so many updates whose dreams were taken for real. Means over the models, sums of
/// counts.
struct CheckedController {
  std::uint64_t update = 0;
  double predicted = 0, real = 0;  // mean returns
  double mean_error = 0;           // mean of |predicted - real|
  double illegal_share = 0;        // of the dreamed actions
  std::uint64_t real_steps = 0;
  std::uint64_t costed = 0;  // graphs: one a rewrite
  std::string bundle = {};   // SHA-256 of its file

  bool operator==(const CheckedController&) const = default;
};

/// Joins what was measured on each model; there is at least one.
CheckedController checked_controller(std::uint64_t update, std::span<const replay::DreamValidity> by_model);

struct ChosenController {
  std::size_t index = 0;
  bool within_trust = false;  // else its dreams are the least wrong ones
};

/// Among those with a mean_error of at most `trust`, the one with the greatest mean real return. Where there
/// is none, the one with the least mean_error. Among equals the last one. There is at least one.
ChosenController choose_controller(std::span<const CheckedController> checked, double trust);

/// The same bundle, whose record says what the checks took (costed_in_training() reads it).
nn::WorldBundle with_checks(nn::WorldBundle bundle, std::uint64_t real_steps, std::uint64_t costed);

/// The choice of one job, as far as RUN/choice.json has it. Counted are checks of the present dream's files,
/// with as many dreams and at the temperature that the config asks for. Other checks in the file are ignored,
/// and so are their steps. One thread.
class ControllerChoice {
 public:
  /// RUN/choice.json
  static std::filesystem::path file_of(const learner::RunFolder& job);
  /// Whether controllers are checked at all.
  static bool wanted(const Config& config);
  /// Whether the file says which controller of this dream was chosen.
  static bool made_of(const learner::RunFolder& job, const learner::RunFolder& dream);

  /// The dream lies below the job's folder and has come to its end. `config` is the job's.
  ControllerChoice(learner::RunFolder job, learner::RunFolder dream, Config config);

  bool all_checked() const;
  /// Whether the file says what the rule says.
  bool made() const;

  /// Checks what is not checked yet, one after the other, and saves each. Throws what loading of models and
  /// bundles throws.
  void check_rest(const std::function<void(const CheckedController&)>& report);

  // Once all are checked:
  const CheckedController& chosen() const;
  bool within_trust() const;
  /// The bundle to keep, all checks in its record.
  nn::WorldBundle kept() const;
  /// Writes the choice into the file.
  void save() const;
  /// What summary.json says about the choice.
  nlohmann::json summary() const;

 private:
  struct Exported {
    std::uint64_t update = 0;
    std::filesystem::path file;
  };
  std::vector<Exported> exported() const;
  bool checked(std::uint64_t update) const;
  void write(const nlohmann::json& chosen) const;
  nlohmann::json chosen_json() const;
  ChosenController rule() const;

  learner::RunFolder job_, dream_;
  Config config_;
  ControllerChoiceOptions options_;
  std::vector<CheckedController> checked_;  // by update
};

}
