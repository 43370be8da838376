#include "core/exec/site/site_check.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include "core/base/rng.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/site/dim_values.h"
#include "core/exec/site/fragment.h"
#include "core/exec/site/made_constants.h"
#include "core/exec/site/site.h"
#include "core/exec/site/site_sizes.h"
#include "core/exec/torch/torch_ops.h"

namespace regraft::exec {
namespace {

using graph::DType;
using graph::Graph;
using graph::NodeId;
using graph::OpKind;
using graph::Value;

constexpr double kWideScale = 4;
constexpr std::int64_t kFewElements = 4096;
constexpr int kDrawsOfFew = 8;  // few numbers may agree by chance
constexpr std::int64_t kDefaultLimit = 8;
constexpr std::int64_t kOtherSize = 3;  // of symbols, beside their given sizes
constexpr int kRandomTries = 1000;      // of sizes at which the left side may run
constexpr double kMostElementsTried = 1 << 22;

std::string value_text(const Graph& graph, Value value) {
  return "output " + std::to_string(value.output) + " of node " + std::to_string(value.node) + " (" +
         std::string(graph::op_info(graph.node(value.node).kind).name) + ", " +
         graph.tables().describe(graph.type_id(value)) + ")";
}

/// The smallest size that an integer value indexes, over the look-ups of the given nodes; follows ops that
/// only move elements.
std::int64_t index_limit(const Graph& graph, const std::set<NodeId>& nodes, Value value,
                         const DimValues& dims) {
  std::int64_t limit = std::numeric_limits<std::int64_t>::max();
  for (const NodeId id : nodes) {
    const graph::Node& node = graph.node(id);
    for (std::size_t slot = 0; slot < node.inputs.size(); ++slot) {
      if (node.inputs[slot] != value) continue;
      const bool looks_up = node.kind == OpKind::gather || node.kind == OpKind::gather_elements;
      if (looks_up && slot == 1) {
        const auto axis = static_cast<std::size_t>(graph.attrs(id).integer(graph::Attr::axis));
        limit = std::min(limit, dims.sizes(graph.type(node.inputs[0])).at(axis));
      } else if (graph::op_info(node.kind).is(graph::kMovement) || node.kind == OpKind::cast) {
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
          limit = std::min(limit, index_limit(graph, nodes, {id, i}, dims));
        }
      }
    }
  }
  return limit;
}

class LeafSource {
 public:
  LeafSource(const Graph& before, const Graph& after, const Site& site, const DimValues& dims)
      : before_(before), after_(after), site_(site), dims_(dims) {}

  at::Tensor draw(Value leaf, double scale, Rng& rng) const {
    const DType dtype = before_.type(leaf).dtype;
    const std::vector<std::int64_t> sizes = dims_.sizes(before_.type(leaf));
    const at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(rng.next());
    if (graph::is_float(dtype))  // in fp32, which LibTorch draws several times as fast
      return at::randn(sizes, generator, at::kFloat).mul_(scale).to(at::kDouble);
    const std::int64_t limit = dtype == DType::boolean ? 2 : limit_of(leaf);
    return at::randint(limit, sizes, generator, at::kLong).to(oracle_type(dtype));
  }

 private:
  std::int64_t limit_of(Value leaf) const {
    const std::int64_t limit = std::min(index_limit(before_, site_.left, leaf, dims_),
                                        index_limit(after_, site_.right, leaf, dims_));
    return limit == std::numeric_limits<std::int64_t>::max() ? kDefaultLimit
                                                             : std::max<std::int64_t>(1, limit);
  }

  const Graph& before_;
  const Graph& after_;
  const Site& site_;
  const DimValues& dims_;
};

std::string text(const char* format, auto... values) {
  char buffer[160];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

/// max |a - b| / max |a|; infinite where the shapes, a NaN or an infinity differ.
double relative_error(const at::Tensor& a, const at::Tensor& b) {
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return kUnbounded;
  if (a.numel() == 0) return 0;
  if (a.scalar_type() != at::kDouble) return at::equal(a, b) ? 0 : kUnbounded;
  const at::Tensor finite = at::isfinite(a);
  const at::Tensor special_agrees = at::logical_or(a == b, at::logical_and(at::isnan(a), at::isnan(b)));
  const at::Tensor agrees = at::where(finite, at::isfinite(b), special_agrees);
  if (!agrees.all().item<bool>()) return kUnbounded;
  const at::Tensor zero = at::zeros({}, at::kDouble);
  const double distance = at::where(finite, at::abs(a - b), zero).max().item<double>();
  const double scale = at::where(finite, at::abs(a), zero).max().item<double>();
  return scale > 0 ? distance / scale : distance;
}

/// A rewrite at its site, and the constants of its model that were computed already.
struct RewrittenSite {
  const Graph& before;
  const Graph& after;
  const rules::Rewrite& rewrite;
  const Site& site;
  TorchWeights& weights;
};

/// One draw: the right side on the same leaves; widens the report.
void compare_once(Fragment& left, const RewrittenSite& rewritten, const std::map<Value, at::Tensor>& leaves,
                  SiteReport& report) {
  const auto& [before, after, rewrite, site, weights] = rewritten;
  Fragment right(after, weights);
  for (const auto& [value, tensor] : leaves) right.set(value, tensor);
  for (const Value& value : site.shared) right.set(value, left.value(value));
  for (std::size_t i = 0; i < rewrite.before.size(); ++i) {
    const double error = relative_error(left.value(rewrite.before[i]), right.value(rewrite.after[i]));
    report.relative_error = std::max(report.relative_error, error);
    if (error <= report.tolerance || !report.reason.empty()) continue;
    report.reason = value_text(left.graph(), rewrite.before[i]) + " differs from " +
                    value_text(after, rewrite.after[i]) +
                    text(": relative error %.3g, tolerance %.1g", error, report.tolerance);
  }
}

void check_types(const Graph& before, const Graph& after, const rules::Rewrite& rewrite) {
  if (rewrite.before.empty() || rewrite.before.size() != rewrite.after.size()) {
    throw ExecError("the rewrite names no pairs of replaced values", "site check", "");
  }
  for (std::size_t i = 0; i < rewrite.before.size(); ++i) {
    const graph::TensorType& old_type = before.type(rewrite.before[i]);
    const graph::TensorType& new_type = after.type(rewrite.after[i]);
    const bool comparable = old_type.is_static() && new_type.is_static();
    if (old_type.dtype == new_type.dtype && (!comparable || old_type == new_type)) continue;
    throw ExecError(value_text(before, rewrite.before[i]) + " becomes " + value_text(after, rewrite.after[i]),
                    "site check", "");
  }
}

bool has_symbols(const Graph& graph, const Site& site) {
  return std::ranges::any_of(site.leaves, [&](const Value& leaf) { return !graph.type(leaf).is_static(); });
}

/// At sizes that do not fit together a value may come out in other dims than its type says.
void require_dims(const Graph& graph, Value value, const at::Tensor& tensor) {
  const graph::TensorType& type = graph.type(value);
  bool fits = !type.ranked || type.rank() == static_cast<std::size_t>(tensor.dim());
  for (std::size_t i = 0; fits && i < type.dims.size(); ++i)
    fits = graph::is_symbol(type.dims[i]) || type.dims[i] == tensor.size(static_cast<std::int64_t>(i));
  if (!fits) throw ExecError(value_text(graph, value) + " has other dims at these sizes", "site check", "");
}

struct Plan {
  std::int64_t unbound_size = 1;  // of symbols without a given size
  int draws = 1;
  std::uint64_t seed = 0;
  double most_elements = std::numeric_limits<double>::infinity();  // of a leaf
};

/// All draws at one choice of sizes. False when the left side itself does not run at these sizes.
bool compare_at(const RewrittenSite& rewritten, const graph::Bindings& bindings, const Plan& plan,
                SiteReport& report) {
  const auto& [before, after, rewrite, site, weights] = rewritten;
  const DimValues dims(before.tables(), bindings, plan.unbound_size);
  const LeafSource source(before, after, site, dims);
  Rng rng(plan.seed, "site check");
  int draws = plan.draws;
  for (int draw = 0; draw < draws; ++draw) {
    std::map<Value, at::Tensor> leaves;
    Fragment left(before, weights);
    try {
      for (const Value& leaf : site.leaves) {
        if (dims.elements(before.type(leaf)) > plan.most_elements)
          throw ExecError("a value is too large at these sizes", "site check", "");
        leaves[leaf] = source.draw(leaf, draw == 0 ? 1 : kWideScale, rng);
      }
      for (const auto& [value, tensor] : leaves) left.set(value, tensor);
      for (const Value& value : rewrite.before) require_dims(before, value, left.value(value));
    } catch (const ExecError& error) {
      report.reason = std::string("the left side does not run: ") + error.what();
      return false;
    }
    compare_once(left, rewritten, leaves, report);
    std::int64_t elements = 0;
    for (const auto& [value, tensor] : leaves) elements += tensor.numel();
    if (elements < kFewElements) draws = std::max(plan.draws, kDrawsOfFew);
  }
  return true;
}

/// Dims behind unknown nodes are symbols that may depend on each other (a Reshape of one to fixed dims), and
/// a branch that is not taken at the sizes given may not run there. Tries sizes until the left side runs:
/// first of symbols without a given size, then of all.
bool compare_at_fitting_sizes(const RewrittenSite& rewritten, const SiteOptions& options,
                              SiteReport& report) {
  const auto& [before, after, rewrite, site, weights] = rewritten;
  using Symbols = std::vector<graph::SymbolId>;
  const LikelySizes sizes = likely_sizes(before, site);
  const auto fits = [&](graph::Bindings bindings, const Symbols& symbols, const auto& size_of) {
    for (const graph::SymbolId symbol : symbols) bindings.bind(symbol, size_of(symbol));
    SiteReport attempt;
    attempt.tolerance = report.tolerance;
    const Plan plan{1, options.draws, options.seed, kMostElementsTried};
    if (!compare_at(rewritten, bindings, plan, attempt)) return false;
    report = attempt;
    return true;
  };
  const auto search = [&](const graph::Bindings& given, const Symbols& plain, const Symbols& all) {
    if (all.empty()) return false;
    for (const std::int64_t size : sizes.all) {  // what is joined or added must often be equal
      const auto alike = [size](graph::SymbolId) { return size; };
      if (fits(given, plain, alike) || fits(given, all, alike)) return true;
    }
    Rng rng(options.seed, "site sizes");
    for (int i = 0; i < kRandomTries; ++i) {
      const std::vector<std::int64_t>& from = i % 4 < 2 ? sizes.fixed : sizes.all;
      const auto any = [&](graph::SymbolId) { return from[rng.below(from.size())]; };
      if (fits(given, i % 2 == 0 ? plain : all, any)) return true;
    }
    return false;
  };
  // What follows from a symbol that is not among the leaves may have any size as well.
  if (search(options.bindings, open_symbols(before, site, options.bindings, false),
             open_symbols(before, site, options.bindings, true)))
    return true;
  const std::map<graph::SymbolId, std::int64_t> given = given_sizes(before, site, options.bindings);
  if (given.empty()) return false;
  const Symbols free = free_symbols(before, site);
  for (const std::int64_t factor : {2, 4}) {
    const auto larger = [&](graph::SymbolId symbol) {
      const auto own = given.find(symbol);
      return own == given.end() ? 1 : own->second * factor;
    };
    if (fits({}, free, larger)) return true;
  }
  return search({}, free, free);
}

/// A rewrite of nodes that were dead already.
bool replaces_nothing(const Graph& before, const rules::Rewrite& rewrite) {
  if (!rewrite.before.empty() || rewrite.match.nodes.empty()) return false;
  const NodeId root = rewrite.match.nodes[0];
  return before.alive(root) && before.uses(root).empty();
}

/// At other sizes than those given: all symbols alike, none larger than it was given, then each alone. Ones
/// that do not fit together say nothing about the rewrite.
void compare_elsewhere(const RewrittenSite& rewritten, const SiteOptions& options, SiteReport& report) {
  const Graph& before = rewritten.before;
  const Site& site = rewritten.site;
  const auto compare = [&](const graph::Bindings& bindings, std::int64_t unbound_size) {
    SiteReport elsewhere = report;
    if (compare_at(rewritten, bindings, {unbound_size, 1, options.seed}, elsewhere)) report = elsewhere;
  };
  compare(options.bindings, kOtherSize);
  const std::map<graph::SymbolId, std::int64_t> given = given_sizes(before, site, options.bindings);
  std::int64_t largest = 1;
  for (const auto& [symbol, size] : given) largest = std::max(largest, size);
  for (const std::int64_t size : smaller_sizes(before, site, largest)) {
    if (!report.reason.empty()) return;
    graph::Bindings bindings = options.bindings;
    for (const auto& [symbol, own] : given) bindings.bind(symbol, std::min(size, own));
    compare(bindings, 1);
  }
  if (given.size() < 2) return;
  for (const auto& [symbol, own] : given) {
    for (const std::int64_t size : smaller_sizes(before, site, own)) {
      if (!report.reason.empty()) return;
      graph::Bindings bindings = options.bindings;
      bindings.bind(symbol, size);
      compare(bindings, 1);
    }
  }
}

SiteReport compare_site(const Graph& before, const Graph& after, const rules::Rewrite& rewrite,
                        const SiteOptions& options, Leaves leaves) {
  SiteReport report;
  if (replaces_nothing(before, rewrite)) return {true, 0, 0, "nothing uses what was replaced"};
  try {
    check_types(before, after, rewrite);
    const Site site = find_site(before, after, rewrite.match.nodes, rewrite.after, leaves);
    report.tolerance = site_tolerance(after, site, rewrite.after);
    TorchWeights weights(before.tables());
    const RewrittenSite rewritten{before, after, rewrite, site, weights};
    bool ran = compare_at(rewritten, options.bindings, {1, options.draws, options.seed}, report);
    if (!ran) ran = compare_at_fitting_sizes(rewritten, options, report);
    if (ran && report.reason.empty() && has_symbols(before, site))
      compare_elsewhere(rewritten, options, report);
    if (report.reason.empty()) report.reason = range_problem(after, site, rewrite.after, weights);
    report.passes = report.reason.empty();
    if (report.passes) report.reason = text("largest relative error %.3g", report.relative_error);
  } catch (const Error& error) {
    report.relative_error = std::numeric_limits<double>::infinity();
    report.reason = std::string("cannot be checked: ") + error.what();
  }
  return report;
}

}  // namespace

void set_oracle_threads(int threads) {
  at::set_num_threads(threads);
}

SiteReport check_site(const Graph& before, const Graph& after, const rules::Rewrite& rewrite,
                      const SiteOptions& options) {
  const SiteReport report = compare_site(before, after, rewrite, options, Leaves::independent);
  if (report.passes) return report;
  SiteReport related = compare_site(before, after, rewrite, options, Leaves::related);
  related.alone = false;
  return related.passes ? related : report;
}

}
