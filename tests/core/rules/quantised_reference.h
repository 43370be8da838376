#pragma once

#include <cmath>
#include <vector>

#include "core/graph/evaluate.h"

namespace regraft::rules::testing {

/// QuantizeLinear and DequantizeLinear to `dtype`, in fp64: a part of the Interpreter. A NaN becomes the
/// least byte.
inline graph::HostTensor quantised(graph::OpKind kind, const graph::AttrBlock& attrs,
                                   const std::vector<const graph::HostTensor*>& in, graph::DType dtype) {
  using graph::HostTensor;
  const HostTensor& x = *in[0];
  std::int64_t run = 1;  // elements that lie behind the axis
  for (std::size_t d = static_cast<std::size_t>(attrs.integer(graph::Attr::axis)) + 1; d < x.dims.size(); ++d)
    run *= x.dims[d];
  const auto number = [](const HostTensor& t, std::size_t i) {
    return t.real.empty() ? static_cast<double>(t.integer[i]) : t.real[i];
  };
  const auto parameter = [&](std::size_t slot, std::size_t i) {
    if (slot >= in.size() || in[slot] == nullptr) return 0.0;
    return number(*in[slot], i / static_cast<std::size_t>(run) % in[slot]->size());
  };
  HostTensor out{dtype, x.dims, {}, {}};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double scale = parameter(1, i), zero = parameter(2, i);
    if (kind == graph::OpKind::dequantize_linear) {
      out.real.push_back((number(x, i) - zero) * scale);
      continue;
    }
    const double least = dtype == graph::DType::int8 ? -128 : 0,
                 byte = std::nearbyint(number(x, i) / scale) + zero;
    out.integer.push_back(static_cast<std::int64_t>(byte > least ? std::fmin(byte, least + 255) : least));
  }
  return out;
}

}
