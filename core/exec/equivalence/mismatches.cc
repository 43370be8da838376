#include "core/exec/equivalence/mismatches.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/base/counted.h"
#include "core/base/deadline.h"
#include "core/exec/equivalence/compare.h"
#include "core/exec/equivalence/tie_breaks.h"
#include "core/exec/equivalence/tolerance_rule.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

using Columns = std::vector<std::vector<double>>;

/// What the original gives on the inputs of one mismatch.
struct Answers {
  std::vector<std::vector<Tensor>> ways;  // all outputs, in each way that was asked
  Columns furthest;                       // by output: how far more noise moved each element
};

// A discontinuous output, such as an angle, jumps where rounding decides: few elements do, in few draws of
// noise.
constexpr int kJumpDraws = 32;
constexpr std::size_t kFewElements = 8, kFewOf = 100;  // at most so many, or one of so many
constexpr int kStays = kJumpDraws / 4;      // draws at least that move it no further than rounding does
constexpr std::size_t kMostMismatches = 8;  // where more inputs show a difference, it is one

bool holds_special(const Tensor& tensor) {
  return !std::ranges::all_of(to_doubles(tensor), [](double value) { return std::isfinite(value); });
}

bool is_special(Extreme extreme) {
  return extreme == Extreme::infinite_mask || extreme == Extreme::infinity || extreme == Extreme::nan;
}

/// The scale of an output on the runs at the usual sizes and on usual numbers.
double usual_scale(const Reference& reference, std::size_t output) {
  double scale = 0;
  for (const ReferenceRun& run : reference.runs)
    if (!run.probe) scale = std::max(scale, scale_of(to_doubles(run.outputs[output])));
  return scale;
}

/// How the elements of one output are held against the original's.
struct Measure {
  double scale = 1;
  double rounding = 0;        // relative to it: what any element may differ by
  bool special_stays = true;  // an Inf or NaN of the original must be one in the other
  bool special_comes = true;  // one where the original has none is a difference
  bool kind_stays = true;     // so is one of another kind
};

/// An output smaller than this may be the rounding of larger values inside. The ceiling of its tolerance is
/// relative to it, so that the original's own spread decides.
constexpr double kSmallScale = 1e-2;

bool same_kind(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b;
}

/// Infinite where only one is finite, or where they are infinities or NaN of two kinds.
double distance(double a, double b) {
  if (same_kind(a, b)) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : std::numeric_limits<double>::infinity();
}

struct OutputDifference {
  double error = 0, spread = 0;  // relative
  std::size_t jumped = 0;        // elements, which do not count in the error
  std::string problem;
};

/// One output of each of these that has the form of the original's.
Columns columns_of(const std::vector<std::vector<Tensor>>& answers, std::size_t output,
                   const Tensor& original) {
  Columns columns;
  for (const std::vector<Tensor>& outputs : answers)
    if (same_form(original, outputs[output])) columns.push_back(to_doubles(outputs[output]));
  return columns;
}

/// Elements that noise moves as far do not count; `furthest` is empty or says of each how far.
OutputDifference difference_of(const Tensor& reference, const Columns& others,
                               std::span<const double> furthest, const Tensor& result,
                               const Measure& measure) {
  const std::vector<double> left = to_doubles(reference), right = to_doubles(result);
  OutputDifference difference;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const bool is = std::isfinite(left[i]);
    if (std::ranges::any_of(others, [&](const auto& other) { return std::isfinite(other[i]) != is; }))
      continue;
    if (is && std::isfinite(right[i])) {
      const double scale = std::max(measure.scale, std::abs(left[i]));
      for (const auto& other : others)
        difference.spread = std::max(difference.spread, std::abs(left[i] - other[i]) / scale);
      const double error = std::abs(left[i] - right[i]);
      const bool jumps = !furthest.empty() && error > measure.rounding * scale &&
                         error <= ToleranceRule::kFactor * furthest[i];
      difference.jumped += jumps;
      if (!jumps) difference.error = std::max(difference.error, error / scale);
      continue;
    }
    const bool differs = is != std::isfinite(right[i]) ? (is ? measure.special_comes : measure.special_stays)
                                                       : measure.kind_stays && !same_kind(left[i], right[i]);
    if (differs) {
      difference.problem = "element " + std::to_string(i) + " is " + std::to_string(left[i]) +
                           " in one and " + std::to_string(right[i]) + " in the other";
      return difference;
    }
  }
  return difference;
}

/// How far rounding may move the elements of an output, as far as is known.
class MostByRounding {
 public:
  MostByRounding(const Reference& reference, const EquivalenceReport& report, std::size_t output)
      : tolerance_(report.outputs[output].tolerance), scale_(usual_scale(reference, output)) {}
  double of(double value) const {
    return tolerance_ * (std::isfinite(value) ? std::max(scale_, std::abs(value)) : scale_);
  }

 private:
  double tolerance_, scale_;
};

/// Whether the inputs are an extreme, or so few elements differ that these may have jumped.
bool may_have_jumped(const Mismatch& mismatch, const Reference& reference, const EquivalenceReport& report) {
  if (mismatch.run->extreme) return !is_special(*mismatch.run->extreme);
  for (std::size_t i = 0; i < report.outputs.size(); ++i) {
    if (!graph::is_float(reference.outputs[i].dtype)) continue;
    if (!same_form(mismatch.run->outputs[i], mismatch.results[i])) return false;
    const std::vector<double> left = to_doubles(mismatch.run->outputs[i]),
                              right = to_doubles(mismatch.results[i]);
    const MostByRounding most(reference, report, i);
    std::size_t differ = 0;
    for (std::size_t k = 0; k < left.size(); ++k) differ += distance(left[k], right[k]) > most.of(left[k]);
    if (differ > std::max(kFewElements, left.size() / kFewOf)) return false;
  }
  return true;
}

/// How far noise moves the elements of each output, draw by draw.
class Jumps {
 public:
  Jumps(const ReferenceRun& run, const Reference& reference, const EquivalenceReport& report)
      : noisy_(run), reference_(reference), report_(report) {
    for (const Tensor& output : run.outputs) {
      furthest_.emplace_back(graph::is_float(output.dtype) ? to_doubles(output).size() : 0);
      stays_.emplace_back(furthest_.back().size());
    }
  }

  void draw(OrtSession& session, Rng& rng) {
    noisy_.noisy_outputs.clear();
    add_noisy_runs(session, 1, rng, noisy_);
    if (noisy_.noisy_outputs.empty()) return;
    for (std::size_t i = 0; i < noisy_.outputs.size(); ++i) {
      const Tensor& moved = noisy_.noisy_outputs[0][i];
      if (furthest_[i].empty() || !same_form(noisy_.outputs[i], moved)) continue;
      const MostByRounding most(reference_, report_, i);
      const std::vector<double> left = to_doubles(noisy_.outputs[i]), right = to_doubles(moved);
      for (std::size_t k = 0; k < left.size(); ++k) {
        const double far = distance(left[k], right[k]);
        if (std::isfinite(far)) furthest_[i][k] = std::max(furthest_[i][k], far);
        stays_[i][k] += far <= most.of(left[k]);
      }
    }
  }

  /// By output, of the elements that some draws leave where they are; 0 for all others.
  Columns furthest() const {
    Columns furthest = furthest_;
    for (std::size_t i = 0; i < furthest.size(); ++i)
      for (std::size_t k = 0; k < furthest[i].size(); ++k)
        if (stays_[i][k] < kStays) furthest[i][k] = 0;
    return furthest;
  }

 private:
  ReferenceRun noisy_;
  const Reference& reference_;
  const EquivalenceReport& report_;
  Columns furthest_;
  std::vector<std::vector<int>> stays_;
};

/// Says of each mismatch whether it is a difference, and notes it in the report. All are judged by the
/// tolerances that the report begins with.
class MismatchChecker {
 public:
  MismatchChecker(const Reference& reference, const EquivalenceOptions& options, TieBreaks& ties,
                  EquivalenceReport& report)
      : reference_(reference), options_(options), ties_(ties), report_(report), begun_with_(report.outputs) {}

  /// Nothing but floats are looked at, and nothing is noted of them.
  bool floats_agree(const Mismatch& mismatch, const Answers& answers) {
    const EquivalenceReport before = report_;
    bool all_agree = true;
    for (std::size_t i = 0; all_agree && i < report_.outputs.size(); ++i)
      all_agree = !is_float(i) || problem_of_floats(mismatch, answers, i).empty();
    report_ = before;
    return all_agree;
  }

  bool agrees(const Mismatch& mismatch, const Answers& answers) {
    bool all_agree = true;
    for (std::size_t i = 0; i < report_.outputs.size(); ++i) {
      OutputReport& output = report_.outputs[i];
      const std::string problem =
          is_float(i) ? problem_of_floats(mismatch, answers, i) : problem_of_others(mismatch, i);
      if (problem.empty()) continue;
      all_agree = false;
      const std::optional<Extreme> extreme = mismatch.run->extreme;
      const bool special = extreme && (is_special(*extreme) || holds_special(mismatch.run->outputs[i]) ||
                                       holds_special(mismatch.results[i]));
      output.only_special = special && (output.agrees || output.only_special);
      if (!output.agrees) continue;
      output.agrees = false;
      output.problem = problem + " (binding: " + mismatch.run->binding + ")";
    }
    return all_agree;
  }

 private:
  bool is_float(std::size_t output) const { return graph::is_float(reference_.outputs[output].dtype); }

  std::string problem_of_floats(const Mismatch& mismatch, const Answers& answers, std::size_t i) {
    OutputReport& output = report_.outputs[i];
    const Tensor &own = mismatch.run->outputs[i], &other = mismatch.results[i];
    if (!same_form(own, other)) return compare(own, other).problem;
    const std::optional<Extreme> extreme = mismatch.run->extreme;
    Measure measure;
    measure.special_comes = !(extreme && options_.finite);
    measure.special_stays = !extreme || is_special(*extreme);
    measure.kind_stays = !extreme;
    measure.scale = std::max(scale_of(to_doubles(own)), usual_scale(reference_, i));
    if (measure.scale == 0) measure.scale = 1;
    measure.rounding = begun_with_[i].tolerance;
    const std::span<const double> furthest =
        answers.furthest.empty() ? std::span<const double>() : answers.furthest[i];
    const OutputDifference difference =
        difference_of(own, columns_of(answers.ways, i, own), furthest, other, measure);
    if (!difference.problem.empty()) return difference.problem;
    const double within = ToleranceRule::kFactor * difference.spread;
    const double smallness = std::max(1.0, kSmallScale / measure.scale);
    const double most = ToleranceRule::ceiling(own.dtype) * smallness;
    const double tolerance = std::max(extreme ? within : std::min(within, most), measure.rounding);
    const bool right = difference.error <= tolerance;
    if (!right && output.agrees) output.tolerance = tolerance;
    if (right && output.agrees && !extreme) {
      output.relative_error = std::max(output.relative_error, difference.error / smallness);
      output.spread = std::max(output.spread, difference.spread / smallness);
      output.tolerance = std::max(output.tolerance, tolerance / smallness);
    }
    if (right && difference.jumped > 0)
      report_.notes.push_back(
          counted(static_cast<int>(difference.jumped), "element") + " of output " + output.name +
          " jump where rounding decides, and were not compared (binding: " + mismatch.run->binding + ")");
    if (right) return "";
    output.relative_error = std::max(output.relative_error, difference.error);
    return "relative error " + std::to_string(difference.error) + " is above the tolerance " +
           std::to_string(tolerance);
  }

  /// Integers and the like must be equal; on extremes they say where rounding decides, which is no
  /// difference.
  std::string problem_of_others(const Mismatch& mismatch, std::size_t i) {
    const Tensor &own = mismatch.run->outputs[i], &other = mismatch.results[i];
    const std::string problem = compare(own, other).problem;
    if (problem.empty() || mismatch.run->extreme) return "";
    return ties_.excuse(report_.outputs[i].name, *mismatch.run, own, other) ? "" : problem;
  }

  const Reference& reference_;
  const EquivalenceOptions& options_;
  TieBreaks& ties_;
  EquivalenceReport& report_;
  const std::vector<OutputReport> begun_with_;
};

/// What the original answers in other ways on the runs of the mismatches, until their floats agree. One
/// session is in memory at a time.
void ask_other_ways(const std::filesystem::path& original, std::span<const Mismatch> mismatches,
                    MismatchChecker checker, std::uint64_t seed, std::vector<Answers>& answers) {
  std::vector<std::size_t> open(mismatches.size());
  std::iota(open.begin(), open.end(), 0);
  const auto close = [&] {
    std::erase_if(open, [&](std::size_t i) { return checker.floats_agree(mismatches[i], answers[i]); });
  };
  Rng rng(seed, "equivalence doubts");
  {
    OrtSession session(original, {Optimisation::none, 1, {}});
    for (const std::size_t i : open) {
      ReferenceRun noisy = *mismatches[i].run;
      noisy.noisy_outputs.clear();
      add_noisy_runs(session, kNoisyRuns, rng, noisy);
      answers[i].ways = std::move(noisy.noisy_outputs);
    }
  }
  close();
  for (const SessionOptions& way : other_ways()) {
    if (open.empty()) return;
    OrtSession session(original, way);
    for (const std::size_t i : open) {
      try {
        answers[i].ways.push_back(session.run(mismatches[i].run->inputs));
      } catch (const ExecError&) {  // says nothing of rounding
      }
    }
    close();
  }
}

}  // namespace

std::span<const SessionOptions> other_ways() {
  static const std::array<SessionOptions, 5> ways = {{
      {Optimisation::none, 2, {}},
      {Optimisation::basic, 1, {}},
      {Optimisation::extended, 1, {}},
      {Optimisation::all, 1, {}},
      {Optimisation::all, 2, {}},
  }};
  return ways;
}

void settle(const std::filesystem::path& original, std::span<const Mismatch> mismatches,
            const Reference& reference, const EquivalenceOptions& options, EquivalenceReport& report) {
  if (mismatches.empty()) return;
  TieBreaks ties(original);
  std::vector<Answers> answers(mismatches.size());
  ask_other_ways(original, mismatches, MismatchChecker(reference, options, ties, report), options.seed,
                 answers);
  const EquivalenceReport before = report;
  const auto differences = [&] {
    report = before;
    MismatchChecker checker(reference, options, ties, report);
    std::vector<std::size_t> differ;
    for (std::size_t i = 0; i < mismatches.size(); ++i)
      if (!checker.agrees(mismatches[i], answers[i])) differ.push_back(i);
    return differ;
  };
  const std::vector<std::size_t> doubtful = differences();
  const auto may_jump = [&](std::size_t i) { return may_have_jumped(mismatches[i], reference, before); };
  if (doubtful.empty() || doubtful.size() > kMostMismatches || !std::ranges::all_of(doubtful, may_jump))
    return;
  report = before;
  MismatchChecker checker(reference, options, ties, report);
  Rng rng(options.seed, "equivalence where outputs jump");
  const Deadline end(options.probe_s);
  OrtSession session(original, {Optimisation::none, 1, {}});
  bool settled = true, in_time = true;
  for (std::size_t at = 0; at < doubtful.size() && settled; ++at) {
    const std::size_t i = doubtful[at];
    Jumps jumps(*mismatches[i].run, reference, before);
    settled = false;
    for (int draw = 1; draw <= kJumpDraws && in_time && !settled; ++draw) {
      jumps.draw(session, rng);
      if (draw < kStays) continue;
      answers[i].furthest = jumps.furthest();
      settled = checker.floats_agree(mismatches[i], answers[i]);
      in_time = settled || draw == kJumpDraws || !end.is_over();
    }
  }
  differences();
  if (!in_time)
    report.notes.emplace_back("whether outputs jump where rounding decides is not known: the time was over");
}

}
