#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

#include "core/base/rng.h"
#include "core/graph/evaluate.h"
#include "core/graph/graph.h"
#include "core/graph/order.h"
#include "core/rules/quantised_reference.h"
#include "core/rules/recurrence_reference.h"

namespace regraft::rules::testing {

using graph::HostTensor;

/// A slow, obvious interpreter of whole graphs in fp64: what graph/evaluate.h folds, and naive loops for the
/// rest. `rounding` is done to every value of floats that an operation or a constant gives.
class Interpreter {
 public:
  explicit Interpreter(const graph::Graph& graph, double (*rounding)(double) = nullptr)
      : graph_(graph), rounding_(rounding) {}

  /// Whether this is so of all floats, given and computed.
  template <typename Holds>
  bool all_are(Holds holds) const {
    return std::ranges::all_of(
        values_, [&](const auto& value) { return std::ranges::all_of(value.second.real, holds); });
  }

  /// Values of the graph outputs, given those of the graph inputs by origin.
  std::vector<HostTensor> run(const std::map<std::int32_t, HostTensor>& inputs) {
    for (graph::NodeId id : graph::topological_order(graph_)) {
      const graph::Node& node = graph_.node(id);
      if (node.kind == graph::OpKind::input) {
        values_[{id, 0}] = inputs.at(node.origin);
      } else if (node.kind == graph::OpKind::weight) {
        values_[{id, 0}] = rounded(graph::evaluate(graph_.tables(), node.weight));
      } else {
        std::vector<HostTensor> out = node_values(node);
        for (std::uint32_t i = 0; i < out.size(); ++i) values_[{id, i}] = rounded(std::move(out[i]));
      }
    }
    std::vector<HostTensor> outputs;
    for (graph::Value v : graph_.outputs()) outputs.push_back(values_.at(v));
    return outputs;
  }

 private:
  using Dims = std::vector<std::int64_t>;
  using K = graph::OpKind;
  using A = graph::Attr;

  HostTensor rounded(HostTensor tensor) const {
    if (rounding_ != nullptr) std::ranges::transform(tensor.real, tensor.real.begin(), rounding_);
    return tensor;
  }

  std::vector<HostTensor> node_values(const graph::Node& node) {
    std::vector<const HostTensor*> in;
    std::vector<graph::TypeId> types;
    for (graph::Value v : node.inputs) {
      in.push_back(v.present() ? &values_.at(v) : nullptr);
      types.push_back(v.present() ? graph_.type_id(v) : graph_.tables().type_none());
    }
    const graph::AttrBlock& attrs = graph_.tables().attrs(node.attrs);
    const bool extreme = node.kind == K::reduce_max || node.kind == K::reduce_min;
    if (!(extreme && graph::is_float(in[0]->dtype)) && graph::can_evaluate(graph_.tables(), node.kind, types))
      return graph::evaluate_op(node.kind, attrs, in);
    if (graph::is_recurrence(node.kind)) return recurrence(node.kind, in);
    HostTensor out;
    out.dtype = graph_.tables().type(node.outputs[0]).dtype;
    const auto& dims = graph_.tables().type(node.outputs[0]).dims;
    out.dims.assign(dims.begin(), dims.end());
    out.real.assign(static_cast<std::size_t>(count(out.dims)), 0.0);
    switch (node.kind) {
      case K::conv:
        conv(attrs, in, out);
        break;
      case K::gemm:
        gemm(attrs, in, out);
        break;
      case K::einsum:
        einsum(attrs, in, out);
        break;
      case K::quantize_linear:
      case K::dequantize_linear:
        out = quantised(node.kind, attrs, in, out.dtype);
        break;
      case K::batch_norm:
        batch_norm(attrs, in, out);
        break;
      case K::layer_norm:
        layer_norm(attrs, in, out);
        break;
      case K::multi_head_attention:
        attention(attrs, in, out);
        break;
      case K::softmax:
        softmax(attrs, in, out);
        break;
      case K::max_pool:
      case K::average_pool:
        pool(node.kind, attrs, in, out);
        break;
      case K::global_average_pool:
        global_average(in, out);
        break;
      case K::global_max_pool:
        global_max(in, out);
        break;
      case K::reduce_max:
      case K::reduce_min:
        reduce_extreme(node.kind, attrs, in, out);
        break;
      default:
        throw std::runtime_error("no reference for " + std::string(graph::op_info(node.kind).name));
    }
    return {out};
  }

  static std::int64_t count(const Dims& dims) {
    std::int64_t n = 1;
    for (std::int64_t d : dims) n *= d;
    return n;
  }
  // Steps through all index tuples of `dims`.
  template <typename Visit>
  static void for_each_index(const Dims& dims, Visit visit) {
    Dims at(dims.size(), 0);
    for (std::int64_t n = count(dims), k = 0; k < n; ++k) {
      visit(at);
      for (std::size_t d = dims.size(); d-- > 0;) {
        if (++at[d] < dims[d]) break;
        at[d] = 0;
      }
    }
  }
  static std::size_t flat(const Dims& dims, const Dims& at) {
    std::int64_t k = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) k = k * dims[d] + at[d];
    return static_cast<std::size_t>(k);
  }

  static void conv(const graph::AttrBlock& attrs, const std::vector<const HostTensor*>& in, HostTensor& out) {
    const HostTensor &x = *in[0], &w = *in[1];
    const auto &s = attrs.ints(A::strides), &p = attrs.ints(A::pads), &dil = attrs.ints(A::dilations);
    const std::int64_t group = attrs.integer(A::group), per_group = w.dims[0] / group;
    const std::size_t n = x.dims.size() - 2;
    for_each_index(out.dims, [&](const Dims& o) {
      double sum = in.size() > 2 && in[2] ? in[2]->real[static_cast<std::size_t>(o[1])] : 0;
      Dims window(w.dims.begin() + 1, w.dims.end());
      for_each_index(window, [&](const Dims& k) {
        Dims xi = {o[0], o[1] / per_group * w.dims[1] + k[0]};
        bool inside = true;
        for (std::size_t d = 0; d < n; ++d) {
          xi.push_back(o[d + 2] * s[d] - p[d] + k[d + 1] * dil[d]);
          inside = inside && xi.back() >= 0 && xi.back() < x.dims[d + 2];
        }
        Dims wi = {o[1]};
        wi.insert(wi.end(), k.begin(), k.end());
        sum += (inside ? x.real[flat(x.dims, xi)] : 0.0) * w.real[flat(w.dims, wi)];
      });
      out.real[flat(out.dims, o)] = sum;
    });
  }

  static double broadcast_at(const HostTensor& t, const Dims& at) {
    Dims index;
    for (std::size_t d = 0; d < t.dims.size(); ++d) {
      index.push_back(t.dims[d] == 1 ? 0 : at[d + at.size() - t.dims.size()]);
    }
    return t.real[flat(t.dims, index)];
  }

  static void gemm(const graph::AttrBlock& attrs, const std::vector<const HostTensor*>& in, HostTensor& out) {
    const HostTensor &a = *in[0], &b = *in[1];
    const bool ta = attrs.integer(A::trans_a) != 0, tb = attrs.integer(A::trans_b) != 0;
    const std::int64_t inner = a.dims[ta ? 0 : 1];
    for_each_index(out.dims, [&](const Dims& o) {
      double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        sum += a.real[flat(a.dims, ta ? Dims{k, o[0]} : Dims{o[0], k})] *
               b.real[flat(b.dims, tb ? Dims{o[1], k} : Dims{k, o[1]})];
      }
      const double c = in.size() > 2 && in[2] ? broadcast_at(*in[2], o) : 0;
      out.real[flat(out.dims, o)] = attrs.real(A::alpha) * sum + attrs.real(A::beta) * c;
    });
  }

  static void einsum(const graph::AttrBlock& attrs, const std::vector<const HostTensor*>& in,
                     HostTensor& out) {
    const Dims& labels = attrs.ints(A::equation);
    const std::size_t first = in[0]->dims.size(), both = first + in[1]->dims.size();
    Dims sizes(labels.size(), 1);
    for (std::size_t i = 0; i < both; ++i)
      sizes[static_cast<std::size_t>(labels[i])] = i < first ? in[0]->dims[i] : in[1]->dims[i - first];
    for_each_index(sizes, [&](const Dims& at) {
      const auto place = [&](std::size_t begin, const Dims& dims) {
        Dims index;
        for (std::size_t d = 0; d < dims.size(); ++d)
          index.push_back(at[static_cast<std::size_t>(labels[begin + d])]);
        return flat(dims, index);
      };
      out.real[place(both, out.dims)] +=
          in[0]->real[place(0, in[0]->dims)] * in[1]->real[place(first, in[1]->dims)];
    });
  }

  static void batch_norm(const graph::AttrBlock& attrs, const std::vector<const HostTensor*>& in,
                         HostTensor& out) {
    for_each_index(out.dims, [&](const Dims& o) {
      const auto c = static_cast<std::size_t>(o[1]);
      const double scale = in[1]->real[c] / std::sqrt(in[4]->real[c] + attrs.real(A::epsilon));
      out.real[flat(out.dims, o)] =
          (in[0]->real[flat(out.dims, o)] - in[3]->real[c]) * scale + in[2]->real[c];
    });
  }

  static void layer_norm(const graph::AttrBlock& attrs, const std::vector<const HostTensor*>& in,
                         HostTensor& out) {
    const auto axis = static_cast<std::size_t>(attrs.integer(A::axis));
    const std::int64_t inner =
        count(Dims(out.dims.begin() + static_cast<std::ptrdiff_t>(axis), out.dims.end()));
    for (std::size_t row = 0; row < out.real.size(); row += static_cast<std::size_t>(inner)) {
      double mean = 0, variance = 0;
      for (std::int64_t i = 0; i < inner; ++i)
        mean += in[0]->real[row + static_cast<std::size_t>(i)] / static_cast<double>(inner);
      for (std::int64_t i = 0; i < inner; ++i) {
        variance +=
            std::pow(in[0]->real[row + static_cast<std::size_t>(i)] - mean, 2) / static_cast<double>(inner);
      }
      for (std::int64_t i = 0; i < inner; ++i) {
        out.real[row + static_cast<std::size_t>(i)] =
            (in[0]->real[row + static_cast<std::size_t>(i)] - mean) /
            std::sqrt(variance + attrs.real(A::epsilon));
      }
    }
    for_each_index(out.dims, [&](const Dims& o) {
      double& v = out.real[flat(out.dims, o)];
      v = v * broadcast_at(*in[1], o) + (in.size() > 2 && in[2] ? broadcast_at(*in[2], o) : 0);
    });
  }

  static void softmax(const graph::AttrBlock& attrs, const std::vector<const HostTensor*>& in,
                      HostTensor& out) {
    const auto axis = static_cast<std::size_t>(attrs.integer(A::axis));
    for_each_index(out.dims, [&](const Dims& o) {
      double sum = 0, largest = -std::numeric_limits<double>::infinity();
      Dims at = o;
      for (at[axis] = 0; at[axis] < out.dims[axis]; ++at[axis])
        largest = std::max(largest, in[0]->real[flat(out.dims, at)]);
      for (at[axis] = 0; at[axis] < out.dims[axis]; ++at[axis])
        sum += std::exp(in[0]->real[flat(out.dims, at)] - largest);
      out.real[flat(out.dims, o)] = std::exp(in[0]->real[flat(out.dims, o)] - largest) / sum;
    });
  }

  double rounded(double value) const { return rounding_ != nullptr ? rounding_(value) : value; }

  void attention(const graph::AttrBlock& attrs, const std::vector<const HostTensor*>& in, HostTensor& out) {
    const HostTensor &q = *in[0], &k = *in[1], &v = *in[2];
    const std::int64_t heads = attrs.integer(A::num_heads), width = q.dims[2] / heads,
                       columns = out.dims[2] / heads;
    const auto biased = [&](const HostTensor& x, const Dims& at, std::int64_t first) {
      const bool given = in.size() > 3 && in[3];
      return x.real[flat(x.dims, at)] + (given ? in[3]->real[static_cast<std::size_t>(first + at[2])] : 0.0);
    };
    for_each_index(out.dims, [&](const Dims& o) {
      const std::int64_t head = o[2] / columns;
      double sum = 0, mixed = 0, largest = -std::numeric_limits<double>::infinity();
      std::vector<double> scores;
      for (std::int64_t key = 0; key < k.dims[1]; ++key) {
        double score = 0;
        for (std::int64_t c = head * width; c < (head + 1) * width; ++c)
          score += biased(q, {o[0], o[1], c}, 0) * biased(k, {o[0], key, c}, q.dims[2]);
        score = rounded(rounded(score) * attrs.real(A::scale));
        if (in.size() > 5 && in[5]) score = rounded(score + broadcast_at(*in[5], {o[0], head, o[1], key}));
        scores.push_back(score);
        largest = std::max(largest, score);
      }
      for (double& score : scores) sum += score = std::exp(score - largest);
      for (std::int64_t key = 0; key < k.dims[1]; ++key)
        mixed += rounded(scores[static_cast<std::size_t>(key)] / sum) *
                 biased(v, {o[0], key, o[2]}, 2 * q.dims[2]);
      out.real[flat(out.dims, o)] = mixed;
    });
  }

  static void pool(K kind, const graph::AttrBlock& attrs, const std::vector<const HostTensor*>& in,
                   HostTensor& out) {
    const HostTensor& x = *in[0];
    const auto &k = attrs.ints(A::kernel_shape), &s = attrs.ints(A::strides), &p = attrs.ints(A::pads),
               &dil = attrs.ints(A::dilations);
    const bool counts_pads = kind == K::average_pool && attrs.integer(A::count_include_pad) != 0;
    for_each_index(out.dims, [&](const Dims& o) {
      double best = -std::numeric_limits<double>::infinity(), sum = 0;
      std::int64_t inside = 0, framed = 0;
      for_each_index(k, [&](const Dims& w) {
        Dims at = {o[0], o[1]};
        bool in_frame = true, in_image = true;
        for (std::size_t d = 0; d < k.size(); ++d) {
          const std::int64_t i = o[d + 2] * s[d] - p[d] + w[d] * dil[d];
          in_frame = in_frame && i < x.dims[d + 2] + p[d + k.size()];
          in_image = in_image && i >= 0 && i < x.dims[d + 2];
          at.push_back(i);
        }
        framed += in_frame;
        if (!in_image) return;
        ++inside;
        best = std::max(best, x.real[flat(x.dims, at)]);
        sum += x.real[flat(x.dims, at)];
      });
      const double average =
          sum / static_cast<double>(std::max<std::int64_t>(1, counts_pads ? framed : inside));
      out.real[flat(out.dims, o)] = kind == K::max_pool ? best : average;
    });
  }

  static void global_average(const std::vector<const HostTensor*>& in, HostTensor& out) {
    const std::size_t inner = in[0]->real.size() / std::max<std::size_t>(1, out.real.size());
    for (std::size_t i = 0; i < in[0]->real.size(); ++i)
      out.real[i / inner] += in[0]->real[i] / static_cast<double>(inner);
  }
  static void global_max(const std::vector<const HostTensor*>& in, HostTensor& out) {
    const std::size_t inner = in[0]->real.size() / std::max<std::size_t>(1, out.real.size());
    std::ranges::fill(out.real, -std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < in[0]->real.size(); ++i)
      out.real[i / inner] = std::max(out.real[i / inner], in[0]->real[i]);
  }
  /// As runtimes do it: past a NaN, unless it comes first.
  static void reduce_extreme(K kind, const graph::AttrBlock& attrs, const std::vector<const HostTensor*>& in,
                             HostTensor& out) {
    const HostTensor& x = *in[0];
    Dims kept = x.dims;
    for (const std::int64_t a : attrs.ints(A::axes)) kept[static_cast<std::size_t>(a)] = 1;
    std::vector<bool> begun(out.real.size(), false);
    for_each_index(x.dims, [&](const Dims& from) {
      Dims at = from;
      for (const std::int64_t a : attrs.ints(A::axes)) at[static_cast<std::size_t>(a)] = 0;
      const double value = x.real[flat(x.dims, from)];
      const std::size_t to = flat(kept, at);
      double& held = out.real[to];
      if (!begun[to] || (kind == K::reduce_max ? held < value : value < held)) held = value;
      begun[to] = true;
    });
  }

  const graph::Graph& graph_;
  double (*rounding_)(double);
  std::map<graph::Value, HostTensor> values_;
};

/// Random values for all graph inputs.
inline std::map<std::int32_t, HostTensor> random_inputs(const graph::Graph& graph, Rng& rng) {
  std::map<std::int32_t, HostTensor> out;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id) || graph.node(id).kind != graph::OpKind::input) continue;
    const graph::TensorType& type = graph.type({id, 0});
    HostTensor t;
    t.dtype = type.dtype;
    t.dims.assign(type.dims.begin(), type.dims.end());
    for (std::int64_t i = 0; i < type.element_count().value(); ++i) {
      if (graph::is_float(type.dtype)) {
        t.real.push_back(rng.uniform(0.2, 1.5) * (rng.below(3) == 0 ? -1 : 1));
      } else {
        // Only integers that are rows of every tensor.
        const auto bit = static_cast<std::int64_t>(rng.below(2));
        t.integer.push_back(type.dtype == graph::DType::boolean ? bit : -bit);
      }
    }
    out[graph.node(id).origin] = std::move(t);
  }
  return out;
}

/// Largest difference relative to the largest magnitude; infinite where shapes, integers, infinities or NaNs
/// differ.
inline double relative_difference(const HostTensor& a, const HostTensor& b) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (a.dtype != b.dtype || a.dims != b.dims || a.integer != b.integer || a.real.size() != b.real.size())
    return kWrong;
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < a.real.size(); ++i) {
    if (std::isnan(a.real[i]) && std::isnan(b.real[i])) continue;
    if (a.real[i] == b.real[i] && std::isinf(a.real[i])) continue;
    if (!std::isfinite(a.real[i]) || !std::isfinite(b.real[i])) return kWrong;
    largest = std::max(largest, std::abs(a.real[i]));
    difference = std::max(difference, std::abs(a.real[i] - b.real[i]));
  }
  return largest > 0 ? difference / largest : difference;
}

}
