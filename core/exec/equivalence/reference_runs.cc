#include "core/exec/equivalence/reference_runs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/counted.h"
#include "core/base/process.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

/// Where all dims of the inputs are fixed; behind "compared at".
constexpr char kFixedSizes[] = "the model's fixed sizes";
constexpr std::array<std::int64_t, 6> kPrimes{7, 11, 13, 17, 19, 23};
constexpr std::int64_t kCommonPrime = 7;
constexpr double kMostTimes = 4;        // the elements of the sizes that were taken, in probes
constexpr double kMostInAll = 1 << 20;  // the same where none were
constexpr std::size_t kMostTogether = 6, kMostAlone = 4;  // probes that run, the latter for each symbol

std::string label_of(const SymbolSizes& sizes) {
  std::string label;
  for (const auto& [symbol, size] : sizes)
    label += (label.empty() ? "" : ", ") + symbol + "=" + std::to_string(size);
  return label;
}

ReferenceRun drawn(const OrtSession& session, const InputSource& source, const SymbolSizes& sizes, Rng& rng) {
  ReferenceRun run{label_of(sizes), source.draw(session.inputs(), sizes, rng), {}, {}};
  if (run.binding.empty()) run.binding = kFixedSizes;
  return run;
}

ReferenceRun run_once(OrtSession& session, const InputSource& source, const SymbolSizes& sizes,
                      int noisy_runs, Rng& rng) {
  ReferenceRun run = drawn(session, source, sizes, rng);
  run.outputs = session.run(run.inputs);
  add_noisy_runs(session, noisy_runs, rng, run);
  return run;
}

std::vector<ReferenceRun> run_binding(OrtSession& session, const InputSource& source,
                                      const SymbolSizes& sizes, const ReferencePlan& plan, Rng& rng,
                                      std::vector<std::string>& notes) {
  std::vector<ReferenceRun> runs;
  std::string problem;
  for (int i = 0; i < plan.draws; ++i) {
    try {
      runs.push_back(run_once(session, source, sizes, plan.noisy_runs, rng));
    } catch (const ExecError& error) {  // on some inputs a model may fail, as one that routes tokens
      if (runs.empty() && i + 1 == plan.draws) throw;
      problem = error.problem();
    }
  }
  if (!problem.empty())
    notes.push_back("compared on " + std::to_string(runs.size()) + " of " + counted(plan.draws, "draw") +
                    ": on the others the original itself fails: " + problem);
  return runs;
}

/// The runs of a binding or of its retry; nothing, and a note, where neither runs.
std::vector<ReferenceRun> run_or_skip(OrtSession& session, const InputSource& source, const Binding& binding,
                                      const ReferencePlan& plan, Rng& rng, std::vector<std::string>& notes) {
  try {
    return run_binding(session, source, binding.sizes, plan, rng, notes);
  } catch (const ExecError& error) {
    if (binding.required) throw;
    if (binding.retry)
      return run_or_skip(session, source, {binding.label, *binding.retry, false, {}}, plan, rng, notes);
    notes.push_back("not compared at " + label_of(binding.sizes) +
                    ": the original itself fails there: " + error.problem());
    return {};
  }
}

std::set<std::string> symbols_of(std::span<const ValueInfo> inputs) {
  std::set<std::string> symbols;
  for (const ValueInfo& input : inputs) {
    for (const AxisInfo& axis : input.dims) {
      if (!axis.is_static()) symbols.insert(axis.symbol);
    }
  }
  return symbols;
}

/// Tries sizes and keeps the runs of those at which the session runs.
class Prober {
 public:
  Prober(OrtSession& session, const InputSource& source, const Deadline& end, Rng& rng, Reference& reference)
      : session_(session), source_(source), end_(end), rng_(rng), reference_(reference) {
    for (const ReferenceRun& run : reference.runs) runs_[run.binding] = true;
  }

  /// False too for what there was no time for.
  bool runs(const SymbolSizes& sizes, bool empty = false) {
    if (end_.is_over() && !runs_.contains(label_of(sizes))) {
      left_out_ = true;
      return false;
    }
    const auto [held, fresh] = runs_.try_emplace(label_of(sizes), false);
    if (!fresh) return held->second;
    try {
      ReferenceRun run = drawn(session_, source_, sizes, rng_);
      std::tie(run.probe, run.empty) = std::pair(true, empty);
      run.outputs = run_with_care(session_, run);
      reference_.runs.push_back(std::move(run));
      held->second = true;
    } catch (const ExecError&) {
    }
    return held->second;
  }
  bool left_out() const { return left_out_; }

 private:
  OrtSession& session_;
  const InputSource& source_;
  const Deadline& end_;
  Rng& rng_;
  Reference& reference_;
  std::map<std::string, bool> runs_;  // by label
  bool left_out_ = false;
};

/// A probe at the sizes bound, where the model runs then.
void add_other_draw(OrtSession& session, const std::unique_ptr<InputSource>& source, const std::string& what,
                    const SymbolSizes& bound, Rng& rng, Reference& reference) {
  if (!source) return;
  try {
    reference.runs.push_back(run_once(session, *source, bound, 0, rng));
    reference.runs.back().binding += "; with " + what;
    reference.runs.back().probe = true;
  } catch (const ExecError&) {
  }
}

bool has_nan(const ReferenceRun& run) {
  return std::ranges::any_of(run.outputs, [](const Tensor& output) {
    return output.container == Container::tensor && graph::is_float(output.dtype) &&
           std::ranges::any_of(to_doubles(output), [](double value) { return std::isnan(value); });
  });
}

/// What the model does for other integers than it names, another branch, say; and for numbers that are not
/// negative, where the usual ones lead to NaN.
void add_other_draws(OrtSession& session, const InputSource& source, const SymbolSizes& bound, Rng& rng,
                     Reference& reference) {
  const bool no_numbers = std::ranges::any_of(reference.runs, has_nan);
  add_other_draw(session, source.unchosen(), "integers that the model does not name", bound, rng, reference);
  if (no_numbers) add_other_draw(session, source.positive(), "floats between 0 and 1", bound, rng, reference);
}

/// How many elements the inputs have. Symbols without a size count as 1.
double elements_at(std::span<const ValueInfo> inputs, const SymbolSizes& sizes) {
  double total = 0;
  for (const ValueInfo& input : inputs) {
    double count = 1;
    for (const AxisInfo& axis : input.dims) {
      const auto size = sizes.find(axis.symbol);
      count *= static_cast<double>(axis.is_static() ? axis.size : size == sizes.end() ? 1 : size->second);
    }
    total += count;
  }
  return total;
}

/// In probes: a batch as large as an image is wide would take minutes and says little.
double most_elements(std::span<const ValueInfo> inputs, const SymbolSizes& bound) {
  return bound.empty() ? kMostInAll : kMostTimes * elements_at(inputs, bound);
}

/// All symbols alike: the first few sizes that run, then the smallest that does, if larger ones do too.
void probe_together(Prober& prober, const std::set<std::string>& symbols, std::span<const ValueInfo> inputs,
                    const SymbolSizes& bound, std::span<const std::int64_t> sizes) {
  const double most = most_elements(inputs, bound);
  const auto runs = [&](std::int64_t size) {
    SymbolSizes alike;
    for (const std::string& symbol : symbols) alike[symbol] = size;
    return (size == 1 || elements_at(inputs, alike) <= most) && prober.runs(alike);
  };
  std::set<std::int64_t> good, bad{0};
  (runs(1) ? good : bad).insert(1);
  for (const std::int64_t size : sizes) {
    if (good.size() >= kMostTogether) break;
    (runs(size) ? good : bad).insert(size);
  }
  if (good.empty()) return;
  std::int64_t smallest = *good.begin(), fails = *std::prev(bad.lower_bound(smallest));
  while (smallest - fails > 1) {
    const std::int64_t middle = (smallest + fails) / 2;
    (runs(middle) ? smallest : fails) = middle;
  }
}

SymbolSizes sizes_given(const std::set<std::string>& symbols, const SymbolSizes& bound) {
  SymbolSizes given;
  for (const std::string& symbol : symbols) {
    const auto value = bound.find(symbol);
    given[symbol] = value == bound.end() ? 1 : value->second;
  }
  return given;
}

/// The first few sizes of each symbol that run, by turns, as the time for all may end.
void probe_alone(Prober& prober, const std::set<std::string>& symbols, std::span<const ValueInfo> inputs,
                 const SymbolSizes& bound, std::span<const std::int64_t> sizes) {
  const SymbolSizes given = sizes_given(symbols, bound);
  const double most = most_elements(inputs, bound);
  std::vector<std::int64_t> order{2, 1};
  order.insert(order.end(), sizes.begin(), sizes.end());
  std::map<std::string, std::set<std::int64_t>> good;
  for (const std::int64_t size : order) {
    for (const std::string& symbol : symbols) {
      SymbolSizes alone = given;
      alone[symbol] = size;
      if (good[symbol].size() < kMostAlone && elements_at(inputs, alone) <= most && prober.runs(alone))
        good[symbol].insert(size);
    }
  }
}

}  // namespace

std::vector<Tensor> run_with_care(OrtSession& session, const ReferenceRun& run) {
  constexpr unsigned kSeconds = 30;  // of a run on empty inputs
  if (run.empty && !returns_in_a_copy([&] { session.run(run.inputs); }, kSeconds))
    throw ExecError("a run on empty inputs fails, or ends the process", "equivalence", "");
  return session.run(run.inputs);
}

void add_noisy_runs(OrtSession& session, int runs, Rng& rng, ReferenceRun& run) {
  for (int i = 0; i < runs; ++i) {
    std::vector<Tensor> moved = run.inputs;
    for (Tensor& tensor : moved) nudge_one_ulp(tensor, rng);
    try {
      run.noisy_outputs.push_back(session.run(moved));
    } catch (const ExecError&) {  // as where noise moves an index out of its range
    }
  }
}

void add_probes(OrtSession& session, const InputSource& source, const SymbolSizes& bound,
                std::span<const std::int64_t> sizes, bool empties, const Deadline& end, Rng& rng,
                Reference& reference) {
  add_other_draws(session, source, bound, rng, reference);
  const std::set<std::string> symbols = symbols_of(session.inputs());
  if (symbols.empty() || source.is_fixed()) return;
  Prober prober(session, source, end, rng, reference);
  probe_together(prober, symbols, session.inputs(), bound, sizes);
  if (symbols.size() > 1) probe_alone(prober, symbols, session.inputs(), bound, sizes);
  for (const std::string& symbol : symbols) {
    SymbolSizes empty = sizes_given(symbols, bound);
    empty[symbol] = 0;
    if (empties) prober.runs(empty, true);
  }
  if (prober.left_out())
    reference.notes.emplace_back("some further sizes were left out: the time for them was over");
}

std::vector<Binding> comparison_bindings(std::span<const ValueInfo> inputs,
                                         std::span<const SymbolSizes> points) {
  const std::set<std::string> symbols = symbols_of(inputs);
  if (symbols.empty()) return {{kFixedSizes, {}, true, {}}};
  Binding ones{"1", {}, false, {}}, primes{"prime", {}, false, SymbolSizes{}};
  std::size_t next_prime = 0;
  for (const std::string& symbol : symbols) {
    ones.sizes[symbol] = 1;
    primes.sizes[symbol] = kPrimes[next_prime++ % kPrimes.size()];
    (*primes.retry)[symbol] = kCommonPrime;
  }
  std::vector<Binding> bindings;
  const auto add = [&](Binding binding) {
    if (std::ranges::find(bindings, binding.sizes, &Binding::sizes) == bindings.end())
      bindings.push_back(std::move(binding));
  };
  for (const SymbolSizes& point : points) {
    Binding given{"point", ones.sizes, true, {}};
    for (auto& [symbol, size] : given.sizes)
      if (const auto value = point.find(symbol); value != point.end()) size = value->second;
    add(std::move(given));
  }
  add(std::move(ones));
  add(std::move(primes));
  return bindings;
}

Reference run_reference(OrtSession& session, const InputSource& source, std::span<const SymbolSizes> points,
                        const ReferencePlan& plan, Rng& rng) {
  Reference reference{session.inputs(), session.outputs(), {}, {}};
  ReferencePlan remaining = plan;
  std::vector<Binding> bindings = comparison_bindings(session.inputs(), points);
  if (source.is_fixed()) {
    bindings.resize(1);
    for (const auto& [symbol, size] : source.sizes(session.inputs())) bindings[0].sizes[symbol] = size;
    remaining.draws = 1;
  }
  for (const Binding& binding : bindings) {
    for (ReferenceRun& run : run_or_skip(session, source, binding, remaining, rng, reference.notes)) {
      reference.runs.push_back(std::move(run));
      remaining = {};
    }
  }
  if (reference.runs.empty()) {
    throw ExecError("the original model runs at none of the bindings tried: " + reference.notes.front(),
                    "equivalence", "give working sizes with --bind");
  }
  return reference;
}

}
