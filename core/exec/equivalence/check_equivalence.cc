#include "core/exec/equivalence/check_equivalence.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/exec/equivalence/add_extremes.h"
#include "core/exec/equivalence/compare.h"
#include "core/exec/equivalence/first_difference.h"
#include "core/exec/equivalence/mismatches.h"
#include "core/exec/equivalence/reference_runs.h"
#include "core/exec/equivalence/tie_breaks.h"
#include "core/exec/equivalence/tolerance_rule.h"
#include "core/exec/inputs/feed.h"
#include "core/exec/inputs/find_meanings.h"
#include "core/exec/inputs/small_sizes.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/ort_session.h"

namespace regraft::exec {
namespace {

constexpr std::int64_t kLeastLargest = 8;  // probes go up to here, or to the largest size that is bound

SessionOptions reference_session() {
  return {Optimisation::none, 1, {}};
}

/// An output may be known better than it was: runtimes infer what their loader is shown, a size that folded
/// to a constant too, and drop what the model declares where that is another rank. The runs compare the sizes
/// themselves.
bool is_known_better(const ValueInfo& before, const ValueInfo& after) {
  const bool other_rank = before.dims.size() != after.dims.size();
  return before.name == after.name && before.dtype == after.dtype &&
         (other_rank ||
          std::ranges::equal(before.dims, after.dims, [](const AxisInfo& was, const AxisInfo& is) {
            return was == is || !was.is_static();
          }));
}

std::string interface_difference(std::span<const ValueInfo> before, std::span<const ValueInfo> after,
                                 const std::string& kind) {
  if (before.size() != after.size()) {
    return "the original has " + std::to_string(before.size()) + " " + kind + "s, the other " +
           std::to_string(after.size());
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i] || (kind == "output" && is_known_better(before[i], after[i]))) continue;
    return kind + " " + std::to_string(i) + " is " + before[i].describe() + " in the original and " +
           after[i].describe() + " in the other";
  }
  return "";
}

void widen_spread(const std::vector<Tensor>& reference, const std::vector<Tensor>& again,
                  std::vector<OutputReport>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Difference difference = compare(reference[i], again[i]);
    // Where the original disagrees with itself about a NaN or an integer, no tolerance follows from that.
    if (difference.problem.empty())
      outputs[i].spread = std::max(outputs[i].spread, difference.relative_error);
  }
}

/// Widens the spread by what the original itself gives on these runs in other ways, and the tolerances.
void measure_spread(const std::filesystem::path& original, std::span<const ReferenceRun* const> runs,
                    std::vector<OutputReport>& outputs) {
  for (const ReferenceRun* run : runs) {
    for (const auto& noisy : run->noisy_outputs) widen_spread(run->outputs, noisy, outputs);
  }
  for (const SessionOptions& variant : other_ways()) {
    OrtSession session(original, variant);
    for (const ReferenceRun* run : runs) {
      try {
        widen_spread(run->outputs, session.run(run->inputs), outputs);
      } catch (const ExecError&) {  // rounding decided something on which it fails: no tolerance follows
      }
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    outputs[i].tolerance = ToleranceRule::tolerance(runs[0]->outputs[i].dtype, outputs[i].spread);
}

void compare_outputs(const ReferenceRun& run, const std::vector<Tensor>& results, Agreement agreement,
                     TieBreaks& ties, std::vector<OutputReport>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    OutputReport& report = outputs[i];
    Difference difference = compare(run.outputs[i], results[i]);
    const bool tied = agreement == Agreement::within_tolerance && !difference.problem.empty() && !run.empty &&
                      ties.excuse(report.name, run, run.outputs[i], results[i]);
    if (tied) difference = {};
    report.relative_error = std::max(report.relative_error, difference.relative_error);
    if (!report.agrees) continue;
    std::string problem = difference.problem;
    if (problem.empty() && agreement == Agreement::bit_equal && !(run.outputs[i] == results[i])) {
      problem = "the bytes differ";
    }
    if (problem.empty() && agreement == Agreement::within_tolerance &&
        !(difference.relative_error <= report.tolerance)) {
      problem = "relative error " + std::to_string(difference.relative_error) + " is above the tolerance " +
                std::to_string(report.tolerance);
    }
    if (problem.empty()) continue;
    report.agrees = false;
    report.problem = problem + " (binding: " + run.binding + ")";
  }
}

std::ptrdiff_t disagreements(const std::vector<OutputReport>& outputs) {
  return std::ranges::count(outputs, false, &OutputReport::agrees);
}

double severity(const OutputReport& output) {
  if (!output.agrees && output.tolerance == 0) return Difference::kUnbounded;
  return output.tolerance > 0 ? output.relative_error / output.tolerance : output.relative_error;
}

void conclude(EquivalenceReport& report, Agreement agreement) {
  const OutputReport* worst = nullptr;
  for (const OutputReport& output : report.outputs) {
    report.max_relative_error = std::max(report.max_relative_error, output.relative_error);
    const bool replaces = worst == nullptr || (worst->agrees && !output.agrees) ||
                          (worst->agrees == output.agrees && severity(output) > severity(*worst));
    if (replaces) worst = &output;
  }
  if (worst == nullptr) {
    report.reason = "the model has no outputs";
    return;
  }
  report.worst_output = worst->name;
  report.equivalent = worst->agrees;
  if (!worst->agrees) {
    report.reason = "output " + worst->name + " differs: " + worst->problem;
  } else if (agreement == Agreement::bit_equal) {
    report.reason = "all outputs are bit-equal";
  } else {
    report.reason = "all outputs are within tolerance";
  }
}

/// Outputs that are nowhere finite and non-zero are compared too, but prove little: said in a note.
void note_empty_outputs(const Reference& reference, EquivalenceReport& report) {
  for (std::size_t i = 0; i < reference.outputs.size(); ++i) {
    if (!graph::is_float(reference.outputs[i].dtype)) continue;
    const bool telling = std::ranges::any_of(reference.runs, [&](const ReferenceRun& run) {
      return !run.extreme && std::ranges::any_of(to_doubles(run.outputs[i]),
                                                 [](double v) { return std::isfinite(v) && v != 0; });
    });
    if (!telling)
      report.notes.push_back("output " + reference.outputs[i].name +
                             " is zero or not finite on every input tried");
  }
}

/// Runs the other model on the reference's inputs and compares; a failure to load or run is a verdict. Gives
/// the mismatches back, which count for nothing yet, but for those on empty inputs: on these the original is
/// asked no more.
std::vector<Mismatch> run_optimised(const std::filesystem::path& original,
                                    const std::filesystem::path& optimised, const SessionOptions& how,
                                    const Reference& reference, Agreement agreement,
                                    EquivalenceReport& report) {
  TieBreaks ties(original);
  std::vector<Mismatch> mismatches;
  std::string at;
  try {
    OrtSession session(optimised, how);
    report.reason = interface_difference(reference.inputs, session.inputs(), "input");
    if (report.reason.empty())
      report.reason = interface_difference(reference.outputs, session.outputs(), "output");
    if (!report.reason.empty()) return {};
    for (const ReferenceRun& run : reference.runs) {
      at = " (binding: " + run.binding + ")";
      std::vector<Tensor> results = run_with_care(session, run);
      std::vector<OutputReport> outputs = report.outputs;
      compare_outputs(run, results, agreement, ties, outputs);
      const bool may_be_rounding = agreement == Agreement::within_tolerance && !run.empty;
      if (may_be_rounding && disagreements(outputs) > disagreements(report.outputs))
        mismatches.push_back({&run, std::move(results)});
      else if (!run.extreme)
        report.outputs = std::move(outputs);
    }
  } catch (const ExecError& error) {
    report.reason = "the other model does not run" + at + ": " + error.what();
  }
  return mismatches;
}

/// How far two answers may lie apart as people run the models, if the runtime's optimiser itself does not
/// move the original further: models of bytes round in other places then. One of so many elements may jump.
constexpr double kTolerableAsUsed = 1e-2;
constexpr std::size_t kOneMayJump = 100;

/// The largest error of the elements of b but those that may jump, relative to the scale of a. Both have the
/// same form, and Inf and NaN at the same places.
double error_without_jumps(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = to_doubles(a), right = to_doubles(b);
  const double scale = scale_of(left);
  std::vector<double> errors;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (std::isfinite(left[i]))
      errors.push_back(std::abs(left[i] - right[i]) / std::max(scale > 0 ? scale : 1, std::abs(left[i])));
  if (errors.empty()) return 0;
  const auto largest = errors.end() - 1 - static_cast<std::ptrdiff_t>(errors.size() / kOneMayJump);
  std::ranges::nth_element(errors, largest);
  return *largest;
}

/// Where an output of floats is another with all of the runtime's optimisation, at the bindings; empty where
/// none is. Says nothing of runs on which the original fails so.
std::string difference_as_used(const std::filesystem::path& original, const std::filesystem::path& optimised,
                               const Reference& reference) {
  const SessionOptions used{Optimisation::all, 1, {}};
  std::vector<std::pair<const ReferenceRun*, std::vector<Tensor>>> answers;
  try {
    OrtSession session(original, used);
    for (const ReferenceRun& run : reference.runs)
      if (!run.probe) answers.emplace_back(&run, session.run(run.inputs));
  } catch (const ExecError&) {
  }
  if (answers.empty()) return "";
  const std::string where = " with all of the runtime's optimisation (binding: ";
  std::string at = answers.front().first->binding;
  try {
    OrtSession session(optimised, used);
    for (const auto& [run, own] : answers) {
      at = run->binding;
      const std::vector<Tensor> results = session.run(run->inputs);
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (!graph::is_float(own[i].dtype)) continue;
        const Difference moved = compare(run->outputs[i], own[i]), difference = compare(own[i], results[i]);
        if (!moved.problem.empty()) continue;
        const bool differs = !difference.problem.empty();
        const double error = differs ? 0 : error_without_jumps(own[i], results[i]);
        const double most = std::max(kTolerableAsUsed, ToleranceRule::kFactor * moved.relative_error);
        if (!differs && error <= most) continue;
        return "output " + reference.outputs[i].name + " differs" + where + at + "): " +
               (differs ? difference.problem
                        : "relative error " + std::to_string(error) + " is above " + std::to_string(most));
      }
    }
  } catch (const ExecError& error) {
    return "the other model does not run" + where + at + "): " + error.what();
  }
  return "";
}

/// Names the first inner value that differs, on the inputs at which the worst output does.
void explain(const std::filesystem::path& original, const std::filesystem::path& optimised,
             const Reference& reference, EquivalenceReport& report) {
  const auto worst = std::ranges::find(report.outputs, report.worst_output, &OutputReport::name);
  for (const ReferenceRun& run : reference.runs) {
    if (run.empty || !worst->problem.ends_with("(binding: " + run.binding + ")")) continue;
    report.first_difference =
        first_difference(original, optimised, run, std::max(worst->tolerance, ToleranceRule::kFloor));
    break;
  }
  if (!report.first_difference.empty()) report.reason += "; " + report.first_difference;
}

/// Runs the original once more, on the same inputs in the same way. Where it disagrees with itself by more
/// than the tolerance, its ops are random, and this says so.
void suspect_original(const std::filesystem::path& original, const SessionOptions& how,
                      const Reference& reference, EquivalenceReport& report) {
  OrtSession session(original, how);
  TieBreaks ties(original);
  std::vector<OutputReport> outputs = report.outputs;
  for (OutputReport& output : outputs) output.agrees = true;
  for (const ReferenceRun& run : reference.runs)
    compare_outputs(run, session.run(run.inputs), Agreement::within_tolerance, ties, outputs);
  const auto random = std::ranges::find(outputs, false, &OutputReport::agrees);
  if (random == outputs.end()) return;
  report.repeatable = false;
  report.reason = "the original gives something else each time that it runs on the same inputs (output " +
                  random->name + "): it is random, and nothing can be compared";
}

EquivalenceReport start_report(const Reference& reference) {
  EquivalenceReport report;
  for (const ValueInfo& output : reference.outputs)
    report.outputs.push_back({output.name, 0, 0, 0, true, ""});
  for (const ReferenceRun& run : reference.runs) {
    if (run.extreme) {
      report.extremes.push_back(run.binding);
      continue;
    }
    if (report.bindings.empty() || report.bindings.back() != run.binding)
      report.bindings.push_back(run.binding);
  }
  report.notes = reference.notes;
  note_empty_outputs(reference, report);
  return report;
}

Reference make_reference(const std::filesystem::path& original, const SessionOptions& how,
                         const ReferencePlan& plan, const EquivalenceOptions& options) {
  const RandomInputs random(options.inputs == nullptr ? find_meanings(original) : InputMeanings{});
  const InputSource& source = options.inputs == nullptr ? random : *options.inputs;
  Rng rng(options.seed, "equivalence");
  OrtSession session(original, how);
  session.fix(options.fixed);
  Reference reference = run_reference(session, source, options.points, plan, rng);
  if (const std::string note = source.note(); !note.empty()) reference.notes.push_back(note);
  if (!options.fixed.empty())
    reference.notes.push_back("compared for " + FeedPoint{options.fixed, {}}.describe() + " alone");
  if (options.agreement == Agreement::bit_equal) return reference;
  std::int64_t largest = kLeastLargest;
  const SymbolSizes first = options.points.empty() ? SymbolSizes{} : options.points.front();
  for (const auto& [symbol, size] : first) largest = std::max(largest, size);
  const Deadline sizes_end(options.probe_s / 2), end(options.probe_s);
  add_probes(session, source, first, telling_sizes(small_constants(original, largest), largest),
             !options.nonempty && !options.session, sizes_end, rng, reference);
  Rng extremes(options.seed, "equivalence extremes");
  add_extremes(session, source, options.finite, end, extremes, reference);
  return reference;
}

EquivalenceReport check_within_tolerance(const std::filesystem::path& original,
                                         const std::filesystem::path& optimised,
                                         const EquivalenceOptions& options) {
  const Reference reference =
      make_reference(original, reference_session(), {options.draws, kNoisyRuns}, options);
  EquivalenceReport report = start_report(reference);
  std::vector<const ReferenceRun*> first;
  for (const ReferenceRun& run : reference.runs)
    if (!run.probe && run.binding == reference.runs.front().binding) first.push_back(&run);
  measure_spread(original, first, report.outputs);
  const std::vector<Mismatch> mismatches =
      run_optimised(original, optimised, options.session.value_or(reference_session()), reference,
                    options.agreement, report);
  if (!report.reason.empty()) return report;
  settle(original, mismatches, reference, options, report);
  conclude(report, options.agreement);
  if (report.equivalent) {
    const std::string problem = options.session ? "" : difference_as_used(original, optimised, reference);
    report.equivalent = problem.empty();
    if (!report.equivalent) report.reason = problem;
    return report;
  }
  if (options.verdict_only) return report;
  suspect_original(original, reference_session(), reference, report);
  if (!report.repeatable) return report;
  explain(original, optimised, reference, report);
  const auto may_agree = [](const OutputReport& output) { return output.agrees || output.only_special; };
  if (!options.finite && std::ranges::all_of(report.outputs, may_agree))
    report.notes.push_back(
        "they differ only where inputs or outputs hold Inf or NaN, as rules marked 'finite' may: try "
        "--finite");
  return report;
}

EquivalenceReport check_bit_equal(const std::filesystem::path& original,
                                  const std::filesystem::path& optimised, const EquivalenceOptions& options) {
  EquivalenceReport report;
  for (const Optimisation level : {Optimisation::none, Optimisation::all}) {
    const SessionOptions how{level, 1, {}};
    const Reference reference = make_reference(original, how, {options.draws, 0}, options);
    report = start_report(reference);
    run_optimised(original, optimised, how, reference, options.agreement, report);
    if (report.reason.empty()) conclude(report, options.agreement);
    if (report.equivalent) continue;
    if (options.verdict_only) return report;
    suspect_original(original, how, reference, report);
    if (!report.repeatable) return report;
    report.reason += " (runtime's optimiser: " + std::string(optimisation_name(level)) + ")";
    return report;
  }
  return report;
}

}  // namespace

EquivalenceReport check_equivalence(const std::filesystem::path& original,
                                    const std::filesystem::path& optimised,
                                    const EquivalenceOptions& options) {
  return options.agreement == Agreement::bit_equal ? check_bit_equal(original, optimised, options)
                                                   : check_within_tolerance(original, optimised, options);
}

}
