#include "core/graph/opaque_work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <unordered_map>

namespace regraft::graph {
namespace {

constexpr int kFunction = 10;    // exp, tanh ... by a polynomial, as core/graph/op_counts.cc counts
constexpr int kMultiplyAdd = 2;  // products
constexpr int kGate = 11;        // a bias and a function

constexpr std::array kOps{
    OpaqueOp{"Acos", Work::outputs, kFunction},
    OpaqueOp{"Acosh", Work::outputs, kFunction},
    OpaqueOp{"ArgMax", Work::reductions, 1},
    OpaqueOp{"ArgMin", Work::reductions, 1},
    OpaqueOp{"Asin", Work::outputs, kFunction},
    OpaqueOp{"Asinh", Work::outputs, kFunction},
    OpaqueOp{"Atan", Work::outputs, kFunction},
    OpaqueOp{"Atanh", Work::outputs, kFunction},
    OpaqueOp{"AveragePool", Work::window, 1},
    OpaqueOp{"BatchNormalization", Work::outputs, 2},
    OpaqueOp{"Celu", Work::outputs, kFunction},
    OpaqueOp{"Compress", Work::inputs, 0},
    OpaqueOp{"Conv", Work::convolution, kMultiplyAdd},
    OpaqueOp{"ConvInteger", Work::convolution, kMultiplyAdd},
    OpaqueOp{"Cosh", Work::outputs, kFunction},
    OpaqueOp{"CumSum", Work::inputs, 1},
    OpaqueOp{"DepthToSpace", Work::outputs, 0},
    OpaqueOp{"DynamicQuantizeLinear", Work::inputs, 4},
    OpaqueOp{"Einsum", Work::contraction, kMultiplyAdd},
    OpaqueOp{"Expand", Work::outputs, 0},
    OpaqueOp{"GRU", Work::recurrence, kGate},
    OpaqueOp{"Gather", Work::outputs, 0},
    OpaqueOp{"GatherND", Work::outputs, 0},
    OpaqueOp{"GridSample", Work::taps, 2},
    OpaqueOp{"GroupNormalization", Work::outputs, 8},
    OpaqueOp{"Hardmax", Work::inputs, 1},
    OpaqueOp{"InstanceNormalization", Work::outputs, 8},
    OpaqueOp{"LRN", Work::outputs, 20},
    OpaqueOp{"LSTM", Work::recurrence, kGate},
    OpaqueOp{"LayerNormalization", Work::outputs, 8},
    OpaqueOp{"LogSoftmax", Work::outputs, 12},
    OpaqueOp{"LpNormalization", Work::outputs, 4},
    OpaqueOp{"LpPool", Work::window, 2},
    OpaqueOp{"MatMul", Work::product, kMultiplyAdd},
    OpaqueOp{"MatMulInteger", Work::product, kMultiplyAdd},
    OpaqueOp{"MaxPool", Work::window, 1},
    OpaqueOp{"MeanVarianceNormalization", Work::outputs, 8},
    OpaqueOp{"Mish", Work::outputs, 3 * kFunction},
    OpaqueOp{"Mod", Work::outputs, 4},
    OpaqueOp{"NonMaxSuppression", Work::sorted, 1},
    OpaqueOp{"NonZero", Work::inputs, 1},
    OpaqueOp{"OneHot", Work::outputs, 0},
    OpaqueOp{"Pad", Work::outputs, 0},
    OpaqueOp{"RMSNormalization", Work::outputs, 6},
    OpaqueOp{"RNN", Work::recurrence, kGate},
    OpaqueOp{"ReduceL1", Work::reductions, 2},
    OpaqueOp{"ReduceL2", Work::reductions, 2},
    OpaqueOp{"ReduceLogSum", Work::reductions, 1},
    OpaqueOp{"ReduceLogSumExp", Work::reductions, kFunction + 1},
    OpaqueOp{"ReduceMax", Work::reductions, 1},
    OpaqueOp{"ReduceMean", Work::reductions, 1},
    OpaqueOp{"ReduceMin", Work::reductions, 1},
    OpaqueOp{"ReduceProd", Work::reductions, 1},
    OpaqueOp{"ReduceSum", Work::reductions, 1},
    OpaqueOp{"ReduceSumSquare", Work::reductions, 2},
    OpaqueOp{"Resize", Work::taps, 2},
    OpaqueOp{"Resize cubic", Work::taps, 2},
    OpaqueOp{"ReverseSequence", Work::outputs, 0},
    OpaqueOp{"RoiAlign", Work::outputs, 8},
    OpaqueOp{"RotaryEmbedding", Work::outputs, 3},
    OpaqueOp{"ScatterElements", Work::outputs, 0},
    OpaqueOp{"ScatterND", Work::outputs, 0},
    OpaqueOp{"Selu", Work::outputs, kFunction},
    OpaqueOp{"Shrink", Work::outputs, 2},
    OpaqueOp{"Sinh", Work::outputs, kFunction},
    OpaqueOp{"Slice", Work::outputs, 0},
    OpaqueOp{"Softmax", Work::outputs, 12},
    OpaqueOp{"Softsign", Work::outputs, 5},
    OpaqueOp{"SpaceToDepth", Work::outputs, 0},
    OpaqueOp{"Swish", Work::outputs, kFunction + 1},
    OpaqueOp{"Tan", Work::outputs, kFunction},
    OpaqueOp{"ThresholdedRelu", Work::outputs, 1},
    OpaqueOp{"TopK", Work::largest, 1},
    OpaqueOp{"Trilu", Work::outputs, 0},
    OpaqueOp{"Unique", Work::sorted, 1},
    OpaqueOp{"Upsample", Work::taps, 2},
    OpaqueOp{"com.microsoft.DynamicQuantizeLSTM", Work::recurrence, kGate},
};

const std::string* text_of(const Tables& tables, const Signature& s, Attr attr) {
  const AttrValue* value = tables.attrs(s.attrs).find(attr);
  return value ? std::get_if<std::string>(value) : nullptr;
}

/// Sizes of a signature's tensors.
class Sizes {
 public:
  Sizes(const Tables& tables, const Signature& s, const Bindings& bindings)
      : tables_(tables), s_(s), bindings_(bindings) {}

  Ints input(std::size_t i) const { return i < s_.inputs.size() ? dims(s_.inputs[i]) : Ints{}; }
  Ints output() const { return s_.outputs.empty() ? Ints{} : dims(s_.outputs[0]); }
  double inputs() const { return s_.inputs.empty() ? 0 : product(input(0)); }
  double outputs() const { return s_.outputs.empty() ? 0 : product(output()); }

  static double product(const Ints& dims) {
    double product = 1;
    for (const std::int64_t dim : dims) product *= static_cast<double>(dim);
    return product;
  }

 private:
  Ints dims(TypeId type) const {
    Ints values;
    for (const Dim dim : tables_.type(type).dims) values.push_back(bindings_.value(dim));
    return values;
  }

  const Tables& tables_;
  const Signature& s_;
  const Bindings& bindings_;
};

double taps(std::string_view mode, std::size_t rank) {
  const auto says = [&](std::string_view part) { return mode.find(part) != std::string_view::npos; };
  const double along = says("cubic") ? 4 : says("linear") ? 2 : 1;
  constexpr std::size_t kBatchAndChannels = 2;
  return std::pow(along, static_cast<double>(rank > kBatchAndChannels ? rank - kBatchAndChannels : rank));
}

/// The k of the k largest: what the output has of the axis that the input has more of.
double kept_of(const Ints& from, const Ints& to) {
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i)
    if (from[i] != to[i]) return static_cast<double>(to[i]);
  return to.empty() ? 1 : static_cast<double>(to.back());  // all of them
}

double logarithm(double count) {
  return std::log2(std::max(count, 2.0));
}

double product_work(const Sizes& sizes) {
  const Ints rows = sizes.input(0);
  return rows.empty() ? 0 : sizes.outputs() * static_cast<double>(rows.back());
}

double convolution_work(const Sizes& sizes) {
  const Ints weight = sizes.input(1);
  return weight.empty() || weight[0] < 1
             ? 0
             : sizes.outputs() * Sizes::product(weight) / static_cast<double>(weight[0]);
}

double recurrence_work(const Tables& tables, const Signature& s, const Bindings& bindings) {
  const auto recurrence = recurrence_of(tables, s, bindings);
  return recurrence ? recurrence->gate_elements() : 0;
}

}  // namespace

std::span<const OpaqueOp> opaque_ops() {
  return kOps;
}

const OpaqueOp* opaque_op(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const OpaqueOp*> map;
    for (const OpaqueOp& row : kOps) map.emplace(row.name, &row);
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::string_view opaque_name(const Tables& tables, const Signature& signature) {
  const std::string* name = text_of(tables, signature, Attr::op_type);
  return name ? std::string_view(*name) : std::string_view();
}

const OpaqueOp* opaque_op(const Tables& tables, const Signature& signature) {
  if (signature.kind == OpKind::einsum || is_recurrence(signature.kind))
    return opaque_op(op_info(signature.kind).name);
  if (signature.kind != OpKind::opaque) return nullptr;
  const std::string_view name = opaque_name(tables, signature);
  const std::string* mode = text_of(tables, signature, Attr::mode);
  const OpaqueOp* of_mode = mode ? opaque_op(std::string(name) + " " + *mode) : nullptr;
  return of_mode ? of_mode : opaque_op(name);
}

std::vector<MatrixProduct> einsum_products(const Tables& tables, const Signature& signature,
                                           const Bindings& bindings) {
  const Sizes sizes(tables, signature, bindings);
  std::vector<Ints> dims;
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) dims.push_back(sizes.input(i));
  if (signature.kind == OpKind::einsum)
    return einsum_products(
        einsum_equation(tables.attrs(signature.attrs).ints(Attr::equation), dims[0].size(), dims[1].size()),
        dims);
  const std::string* equation = text_of(tables, signature, Attr::equation);
  return equation ? einsum_products(*equation, dims) : std::vector<MatrixProduct>();
}

std::optional<Recurrence> recurrence_of(const Tables& tables, const Signature& signature,
                                        const Bindings& bindings) {
  const Sizes sizes(tables, signature, bindings);
  const Ints x = sizes.input(0), w = sizes.input(1), r = sizes.input(2);
  if (x.size() != 3 || w.size() != 3 || r.size() != 3) return std::nullopt;
  const auto real = [](std::int64_t size) { return static_cast<double>(size); };
  // [directions, gates * hidden, hidden], of quantised ones the other way round
  const double hidden = real(std::min(r[1], r[2])),
               gates = real(std::max(r[1], r[2])) / std::max(hidden, 1.0);
  return Recurrence{real(x[0]), real(x[1]), real(x[2]), hidden, gates, real(r[0])};
}

double opaque_work(const Tables& tables, const Signature& signature, const Bindings& bindings) {
  const OpaqueOp* op = opaque_op(tables, signature);
  if (!op) return 0;
  const Sizes sizes(tables, signature, bindings);
  switch (op->work) {
    case Work::outputs:
      return sizes.outputs();
    case Work::inputs:
    case Work::reductions:
      return sizes.inputs();
    case Work::window: {
      const AttrValue* window = tables.attrs(signature.attrs).find(Attr::kernel_shape);
      const Ints* dims = window ? std::get_if<Ints>(window) : nullptr;
      return sizes.outputs() * (dims ? Sizes::product(*dims) : 1);
    }
    case Work::taps: {
      const std::string* mode = text_of(tables, signature, Attr::mode);
      const std::string_view unsaid =
          op->name == "GridSample" ? "linear" : "nearest";  // the standard's defaults
      return sizes.outputs() * taps(mode ? *mode : unsaid, sizes.output().size());
    }
    case Work::largest:
      return sizes.inputs() * logarithm(kept_of(sizes.input(0), sizes.output()));
    case Work::sorted:
      return sizes.inputs() * logarithm(sizes.inputs());
    case Work::product:
      return product_work(sizes);
    case Work::convolution:
      return convolution_work(sizes);
    case Work::contraction: {
      double work = 0;
      for (const MatrixProduct& each : einsum_products(tables, signature, bindings))
        work += each.multiply_adds();
      return work;
    }
    case Work::recurrence:
      return recurrence_work(tables, signature, bindings);
  }
  return 0;
}

std::int64_t opaque_flops(const Tables& tables, const Signature& signature, const Bindings& bindings) {
  const OpaqueOp* op = opaque_op(tables, signature);
  if (!op) return 0;
  double flops = op->flops * opaque_work(tables, signature, bindings);
  if (const auto r = op->work == Work::recurrence ? recurrence_of(tables, signature, bindings) : std::nullopt)
    flops += kMultiplyAdd * r->gate_elements() * (r->input + r->hidden);
  constexpr double kMost = 9e18;  // of 64 bits
  return std::isfinite(flops) ? static_cast<std::int64_t>(std::clamp(flops, 0.0, kMost)) : 0;
}

}
