#include "core/exec/trials.h"

#include <array>
#include <set>

#include "core/exec/exec_error.h"

namespace regraft::exec {
namespace {

constexpr std::array<std::int64_t, 6> kPrimes{7, 11, 13, 17, 19, 23};
constexpr std::int64_t kCommonPrime = 7;

std::string label_of(const SymbolSizes& sizes) {
  std::string label;
  for (const auto& [symbol, size] : sizes)
    label += (label.empty() ? "" : ", ") + symbol + "=" + std::to_string(size);
  return label;
}

Trial run_trial(OrtSession& session, const InputSource& source, const SymbolSizes& sizes, int noisy_runs,
                Rng& rng) {
  Trial trial{label_of(sizes), source.draw(session.inputs(), sizes, rng), {}, {}};
  if (trial.binding.empty()) trial.binding = "as it is";
  trial.outputs = session.run(trial.inputs);
  for (int i = 0; i < noisy_runs; ++i) {
    std::vector<Tensor> moved = trial.inputs;
    for (Tensor& tensor : moved) nudge_one_ulp(tensor, rng);
    trial.noisy_outputs.push_back(session.run(moved));
  }
  return trial;
}

std::vector<Trial> run_binding(OrtSession& session, const InputSource& source, const SymbolSizes& sizes,
                               const TrialPlan& plan, Rng& rng) {
  std::vector<Trial> trials;
  for (int i = 0; i < plan.draws; ++i)
    trials.push_back(run_trial(session, source, sizes, plan.noisy_runs, rng));
  return trials;
}

/// The trials of a binding or of its retry; nothing, and a note, where neither runs.
std::vector<Trial> run_or_skip(OrtSession& session, const InputSource& source, const Binding& binding,
                               const TrialPlan& plan, Rng& rng, std::vector<std::string>& notes) {
  try {
    return run_binding(session, source, binding.sizes, plan, rng);
  } catch (const ExecError& error) {
    if (binding.required) throw;
    if (binding.retry)
      return run_or_skip(session, source, {binding.label, *binding.retry, false, {}}, plan, rng, notes);
    notes.push_back("not compared at " + label_of(binding.sizes) +
                    ": the original itself fails there: " + error.problem());
    return {};
  }
}

}  // namespace

std::vector<Binding> comparison_bindings(std::span<const ValueInfo> inputs, const SymbolSizes& bound) {
  std::set<std::string> symbols;
  for (const ValueInfo& input : inputs) {
    for (const AxisInfo& axis : input.dims) {
      if (!axis.is_static()) symbols.insert(axis.symbol);
    }
  }
  if (symbols.empty()) return {{"as it is", {}, true, {}}};
  Binding ones{"1", {}, false, {}}, given{"bound", {}, true, {}}, primes{"prime", {}, false, SymbolSizes{}};
  bool differs = false;
  std::size_t next_prime = 0;
  for (const std::string& symbol : symbols) {
    const auto value = bound.find(symbol);
    ones.sizes[symbol] = 1;
    given.sizes[symbol] = value == bound.end() ? 1 : value->second;
    differs = differs || given.sizes[symbol] != 1;
    primes.sizes[symbol] = kPrimes[next_prime++ % kPrimes.size()];
    (*primes.retry)[symbol] = kCommonPrime;
  }
  if (!differs) return {ones, primes};
  return {ones, given, primes};
}

Reference run_reference(OrtSession& session, const InputSource& source, const SymbolSizes& bound,
                        const TrialPlan& plan, Rng& rng) {
  Reference reference{session.inputs(), session.outputs(), {}, {}};
  TrialPlan remaining = plan;
  std::vector<Binding> bindings = comparison_bindings(session.inputs(), bound);
  if (source.is_fixed()) {
    bindings = {{"given", source.sizes(session.inputs()), true, {}}};
    remaining.draws = 1;
  }
  for (const Binding& binding : bindings) {
    for (Trial& trial : run_or_skip(session, source, binding, remaining, rng, reference.notes)) {
      reference.trials.push_back(std::move(trial));
      remaining.draws = 1;
    }
  }
  if (reference.trials.empty()) {
    throw ExecError("the original model runs at none of the bindings tried: " + reference.notes.front(),
                    "equivalence", "give working sizes with --bind");
  }
  return reference;
}

}  // namespace regraft::exec
