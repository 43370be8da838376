#include "core/proof/exact/exact_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "core/graph/evaluate.h"

namespace regraft::proof {
namespace {

using graph::OpKind;

constexpr double kGrid = 0x1p20;
constexpr std::int64_t kLargestInteger = 4;
constexpr std::size_t kSmallConstant = 4;  // elements of one whose values are taken for thresholds
constexpr std::size_t kMostThresholds = 64;

// For an input that says which rows are read: the fewest rows that there are. Else 0.
std::int64_t rows_of(graph::Value value, const graph::Graph& graph) {
  std::int64_t rows = 0;
  for (const graph::Use& use : graph.uses(value.node)) {
    if (use.user == graph::kGraphOutput || use.slot != 1) continue;
    const graph::Node& reader = graph.node(use.user);
    if (reader.kind != OpKind::gather && reader.kind != OpKind::gather_elements) continue;
    const auto axis = static_cast<std::size_t>(graph.tables().attrs(reader.attrs).integer(graph::Attr::axis));
    const std::int64_t there = graph.type(reader.inputs[0]).dims[axis];
    rows = rows == 0 ? there : std::min(rows, there);
  }
  return rows;
}

double ordinary(Rng& rng) {
  const double magnitude = std::trunc(rng.uniform(0.2, 1.5) * kGrid) / kGrid;
  return rng.below(3) == 0 ? -magnitude : magnitude;
}

std::int64_t some_integer(std::int64_t largest, Rng& rng) {
  return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(2 * largest + 1))) - largest;
}

// Few binary digits, so that sums and products of some are known without error.
double of_any_size(Rng& rng) {
  constexpr int kLeast = -22, kMost = 8;
  const auto digits = static_cast<double>(1 + rng.below(7));
  const double magnitude = std::ldexp(digits, kLeast + static_cast<int>(rng.below(kMost + 1 - kLeast)));
  return rng.below(2) == 0 ? -magnitude : magnitude;
}

double near_one_of(const std::vector<double>& thresholds, Rng& rng) {
  constexpr std::array kBeside = {1.0, 1.0, 1.0 + 0x1p-10, 1.0 - 0x1p-10, 1.5, 0.5, 2.0, 4.0, -1.0};
  return thresholds[rng.below(thresholds.size())] * kBeside[rng.below(kBeside.size())];
}

double corner(const std::vector<double>& thresholds, Rng& rng) {
  switch (rng.below(thresholds.empty() ? 3 : 5)) {
    case 0:
      return rng.below(2) == 0 ? 0 : ordinary(rng);
    case 1:
      return static_cast<double>(some_integer(8, rng)) / 2;
    case 2:
      return of_any_size(rng);
    default:
      return near_one_of(thresholds, rng);
  }
}

std::int64_t corner_integer(const std::vector<double>& thresholds, Rng& rng) {
  constexpr double kLarge = 1e6;
  if (rng.below(2) == 0) return some_integer(kLargestInteger, rng);
  if (thresholds.empty() || rng.below(2) == 0) return some_integer(256, rng);
  return std::llround(std::clamp(near_one_of(thresholds, rng), -kLarge, kLarge));
}

using Draw = std::function<Exact(graph::DType)>;

ExactInputMap inputs_of(const graph::Graph& graph, Rng& rng, const std::function<Draw()>& of_one_tensor) {
  ExactInputMap out;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id) || graph.node(id).kind != OpKind::input) continue;
    const graph::TensorType& type = graph.type({id, 0});
    ExactTensor tensor = ExactTensor::zeros(type.dtype, graph::Ints(type.dims.begin(), type.dims.end()));
    const std::int64_t rows = rows_of({id, 0}, graph);
    const Draw draw = of_one_tensor();
    for (Exact& value : tensor.values) {
      if (type.dtype == graph::DType::boolean)
        value = Exact::of(static_cast<std::int64_t>(rng.below(2)));
      else if (rows > 0)
        value = Exact::of(static_cast<std::int64_t>(rng.below(2 * static_cast<std::uint64_t>(rows))) - rows);
      else
        value = draw(type.dtype);
    }
    out[graph.node(id).origin] = std::move(tensor);
  }
  return out;
}

}  // namespace

ExactInputMap ordinary_inputs(const graph::Graph& graph, Rng& rng) {
  return inputs_of(graph, rng, [&]() -> Draw {
    return [&](graph::DType dtype) {
      return graph::is_float(dtype) ? Exact::of(ordinary(rng))
                                    : Exact::of(some_integer(kLargestInteger, rng));
    };
  });
}

ExactInputMap corner_inputs(const graph::Graph& graph, const std::vector<double>& thresholds, Rng& rng) {
  return inputs_of(graph, rng, [&]() -> Draw {
    // In all elements of a tensor, in few, or in none: what is wrong in one corner may be covered by another.
    constexpr std::uint64_t kEighths[] = {8, 8, 1, 0};
    const std::uint64_t share = kEighths[rng.below(std::size(kEighths))];
    return [&, share](graph::DType dtype) {
      const bool at_corner = rng.below(8) < share;
      if (!graph::is_float(dtype))
        return Exact::of(at_corner ? corner_integer(thresholds, rng) : some_integer(kLargestInteger, rng));
      return Exact::of(at_corner ? corner(thresholds, rng) : ordinary(rng));
    };
  });
}

void add_thresholds(const graph::Graph& graph, std::vector<double>& thresholds) {
  const auto add = [&](double value) {
    if (!std::isfinite(value) || value == 0 || thresholds.size() == kMostThresholds) return;
    if (std::find(thresholds.begin(), thresholds.end(), value) == thresholds.end())
      thresholds.push_back(value);
  };
  const graph::Tables& tables = graph.tables();
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id)) continue;
    const graph::Node& node = graph.node(id);
    if (node.kind != OpKind::weight) {
      for (const auto& [attr, value] : tables.attrs(node.attrs).entries())
        if (const double* real = std::get_if<double>(&value)) add(*real);
      continue;
    }
    const graph::WeightExpr& expr = tables.weights()[node.weight];
    if (expr.form == graph::WeightExpr::Form::operation) continue;
    const auto tensor = graph::HostTensor::from_bytes(tables.type(expr.type), expr.bytes);
    if (tensor.size() > kSmallConstant) continue;
    for (const double value : tensor.real) add(value);
    for (const std::int64_t value : tensor.integer) add(static_cast<double>(value));
  }
}

}
