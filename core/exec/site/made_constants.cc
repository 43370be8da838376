#include "core/exec/site/made_constants.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace regraft::exec {
namespace {

using graph::DType;
using graph::Graph;
using graph::NodeId;
using graph::Value;

constexpr int kRoundings = 16;  // of made constants, that may add up in one value

/// Whether a constant is, or is made of, a floating literal that came with the rewrite.
bool holds_literal(const graph::WeightTable& weights, const graph::Tables& tables, graph::WeightId weight) {
  if (weight == graph::WeightId::none) return false;
  const graph::WeightExpr& expr = weights[weight];
  if (expr.form == graph::WeightExpr::Form::literal) return graph::is_float(tables.type(expr.type).dtype);
  return std::ranges::any_of(expr.args,
                             [&](graph::WeightId arg) { return holds_literal(weights, tables, arg); });
}

/// The largest and the smallest normal number of a type that constants are rounded to; of others, of doubles.
std::pair<double, double> extremes(DType dtype) {
  if (dtype == DType::float32) return {0x1.fffffep127, 0x1p-126};
  if (dtype == DType::bfloat16) return {0x1.fep127, 0x1p-126};
  if (dtype == DType::float16) return {65504, 0x1p-14};
  return {std::numeric_limits<double>::max(), std::numeric_limits<double>::min()};
}

/// A floating constant that a rewrite computes from others may leave the range of their type, which fp64 does
/// not show. Says so where a finite one overflows, or where the largest becomes 0 although those that it is
/// made of are not.
std::string range_problem(const graph::Tables& tables, graph::WeightId weight, TorchWeights& weights) {
  using Form = graph::WeightExpr::Form;
  const DType dtype = tables.type(tables.weights()[weight].type).dtype;
  if (!graph::is_float(dtype) || tables.weights()[weight].form != Form::operation) return "";
  const auto largest = [&](graph::WeightId id) {
    const at::Tensor values = weights.value(id).contiguous();  // no other copies: it may be most of the model
    const double* const held = values.const_data_ptr<double>();
    double most_yet = 0;
    for (std::int64_t i = 0; i < values.numel(); ++i)
      if (std::isfinite(held[i])) most_yet = std::max(most_yet, std::abs(held[i]));
    return most_yet;
  };
  const auto [most, least] = extremes(dtype);
  const double made = largest(weight);
  if (made > most) {
    char size[32];
    std::snprintf(size, sizeof size, "%.3g", made);
    return std::string("a constant of ") + size + " overflows " + graph::dtype_name(dtype);
  }
  if (made >= least) return "";
  std::vector<graph::WeightId> open{weight};
  std::set<graph::WeightId> seen;
  while (!open.empty()) {
    const graph::WeightId id = open.back();
    const graph::WeightExpr& held = tables.weights()[id];
    open.pop_back();
    const bool leaf = held.form != Form::operation && graph::is_float(tables.type(held.type).dtype);
    if (leaf && largest(id) >= least && made > 0) return "a constant vanishes in " + graph::dtype_name(dtype);
    for (const graph::WeightId arg : held.args)
      if (arg != graph::WeightId::none && seen.insert(arg).second) open.push_back(arg);
  }
  return "";
}

}  // namespace

double made_constant_tolerance(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return kRoundings * std::exp2(-11);
    case DType::bfloat16:
      return kRoundings * std::exp2(-8);
    case DType::float32:
      return kRoundings * std::exp2(-24);
    default:
      return kSiteTolerance;
  }
}

double site_tolerance(const Graph& after, const Site& site, std::span<const Value> replaced) {
  double tolerance = kSiteTolerance;
  for (const NodeId id : site.right) {
    for (const Value& input : after.node(id).inputs) {
      const graph::Tables& tables = after.tables();
      if (!input.present() || !holds_literal(tables.weights(), tables, after.weight_of(input))) continue;
      tolerance = std::max(tolerance, made_constant_tolerance(after.type(input).dtype));
    }
  }
  for (const Value& value : replaced) {
    const graph::Tables& tables = after.tables();
    if (holds_literal(tables.weights(), tables, after.weight_of(value))) {
      tolerance = std::max(tolerance, made_constant_tolerance(after.type(value).dtype));
    }
  }
  return tolerance;
}

std::string range_problem(const Graph& after, const Site& site, std::span<const Value> replaced,
                          TorchWeights& weights) {
  std::vector<Value> read(replaced.begin(), replaced.end());
  for (const NodeId id : site.right)
    read.insert(read.end(), after.node(id).inputs.begin(), after.node(id).inputs.end());
  for (const Value& value : read) {
    if (!value.present() || after.weight_of(value) == graph::WeightId::none) continue;
    std::string problem = range_problem(after.tables(), after.weight_of(value), weights);
    if (!problem.empty()) return problem;
  }
  return "";
}

}
