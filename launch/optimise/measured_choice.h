#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/deadline.h"
#include "core/cost/several_sizes_factory.h"
#include "core/exec/latency/trials.h"
#include "core/onnx/import.h"
#include "core/search/all_sites_moves.h"
#include "launch/optimise/rewrite_groups.h"

namespace regraft::launch {

/// Rewrites whose worth was measured otherwise than it was predicted.
struct MeasuredGroup {
  std::map<std::string, int> rules;
  exec::SpeedupEstimate gain;  // how much faster the model is since they were left out, or taken in

  /// "3 x add-out, 1 x mul-mul".
  std::string names() const;
  /// "3 x add-out: 1.020x as fast".
  std::string text() const;
};

/// What measurements changed of what the cost model chose.
struct MeasuredChanges {
  std::vector<MeasuredGroup> left_out, taken_in;
  std::vector<MeasuredGroup> kept, not_taken_in;  // tried without gain, and what that would have given

  /// Forgets what was taken in and is not among these rewrites any more.
  void keep_taken_in(const std::map<std::string, int>& rewrites);
};

/// What a choice starts from. All outlive it.
struct FoundRewrites {
  const onnx::ImportedModel& model;
  const ModelGraphs& start;
  const rules::RuleSet& rules;
  std::span<const cost::SeveralSizesFactory> costs;  // of each graph
  exec::SessionSettings settings = {};               // in which they are measured
  std::set<std::size_t> idle = {};                   // graphs that do not run: left as they were found
  double run_ms = 1e-3;                              // at least, about
};

/// Lets the machine choose among rewrites. Groups of those found are left out one by one; what is faster
/// without them goes on without them. Then each rule that the cost model calls nearly worth it is carried out
/// at all of its sites, the nearest first, and what is measured faster is taken in, as long as time is left.
/// Each set of rewrites is a file and is measured by trials (core/exec/latency).
class MeasuredChoice {
 public:
  /// options.budget_s is for all trials together.
  MeasuredChoice(exec::Launcher& launcher, const exec::TrialOptions& options, const FoundRewrites& found,
                 const Clock& clock)
      : launcher_(launcher), options_(options), found_(found), clock_(clock) {}

  /// The paths that measure fastest, from these on. `saved_us`: predicted, of each rewrite. Notes what it
  /// changed. Throws ExecError where the model that they lead to cannot be run.
  Paths choose(Paths paths, std::span<const double> saved_us, MeasuredChanges& changes);

 private:
  using Move = std::pair<std::size_t, std::uint32_t>;  // graph, rule
  /// What may be changed of paths.
  struct Change {
    std::set<std::pair<std::size_t, std::size_t>> without;  // graph, place in its path
    std::vector<Move> moves;                                // carried out in order
    MeasuredGroup measured;
  };
  using Changes = std::vector<Change>;

  /// A figure of an estimate by which a change is judged: gains where it is above 1.
  using Figure = double exec::SpeedupEstimate::*;

  Changes leaving_out(const Paths& paths, std::span<const double> saved_us, std::size_t most) const;
  Changes taking_in(const Paths& paths, const std::set<Move>& tried) const;

  /// At most so many changes.
  using Make = std::function<Changes(std::size_t most)>;
  /// Makes the changes that gain, alone and together, at most as many as are affordable. Notes them, and the
  /// others that were measured.
  void improve(Paths& paths, double seconds, Figure figure, const Make& make,
               std::vector<MeasuredGroup>& noted, std::vector<MeasuredGroup>& others);
  static Change together(std::span<const Change> changes);
  /// How much faster each of make(most) is than the paths. None, and nothing is run, where there are none or
  /// the time is too short for any.
  Changes trial(const Paths& paths, double seconds, const Make& make);
  Paths changed(const Paths& paths, const Change& change) const;
  void write(const Paths& paths, const std::filesystem::path& file) const;

  exec::Launcher& launcher_;
  exec::TrialOptions options_;
  FoundRewrites found_;
  const Clock& clock_;
  Deadline end_{0};
  std::optional<exec::Measurement> probe_;  // what a session takes
};

}
