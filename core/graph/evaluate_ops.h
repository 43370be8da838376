#pragma once

// Internal to core/graph: the kernels behind evaluate.h. Each writes every output element by the same
// operations in the same order on any CPU; nothing here depends on threads, vector width or the C library's
// choice of kernels.

#include <string>
#include <unordered_map>

#include "core/graph/host_tensor.h"
#include "core/graph/op.h"

namespace regraft::graph {

using Inputs = std::span<const HostTensor* const>;

[[noreturn]] void refuse(OpKind kind, const std::string& problem);

std::int64_t element_count(std::span<const std::int64_t> dims);
/// Row-major strides in elements.
std::vector<std::int64_t> strides_of(std::span<const std::int64_t> dims);
/// Numpy broadcasting of several shapes.
std::vector<std::int64_t> broadcast_dims(OpKind kind, Inputs inputs);
/// Strides of `dims` as seen from the broadcast shape `out`: 0 along repeated dims.
std::vector<std::int64_t> broadcast_strides(std::span<const std::int64_t> dims,
                                            std::span<const std::int64_t> out);

/// The elements of a tensor as T, double or std::int64_t.
template <typename T, typename Tensor>
auto& elements(Tensor& tensor) {
  if constexpr (std::is_same_v<T, double>)
    return tensor.real;
  else
    return tensor.integer;
}

/// a * b + c; integers wrap.
inline double multiply_add(double a, double b, double c) {
  return a * b + c;
}
inline std::int64_t multiply_add(std::int64_t a, std::int64_t b, std::int64_t c) {
  const auto wide = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return static_cast<std::int64_t>(wide(a) * wide(b) + wide(c));
}

/// A tensor of zeros.
HostTensor make_tensor(DType dtype, std::vector<std::int64_t> dims);

/// The expressions that `root` needs, arguments before the operations on them, root last, each once; and how
/// often each is an argument (the root once more). No recursion: expressions may be long chains.
using UseCounts = std::unordered_map<WeightId, std::size_t>;
std::vector<WeightId> fold_order(const Tables& tables, WeightId root, UseCounts& uses);

HostTensor evaluate_elementwise(OpKind kind, const AttrBlock& attrs, Inputs inputs);
HostTensor evaluate_movement(OpKind kind, const AttrBlock& attrs, Inputs inputs);
HostTensor evaluate_split_part(const AttrBlock& attrs, const HostTensor& input, std::size_t part);
HostTensor evaluate_pad(const AttrBlock& attrs, Inputs inputs);
HostTensor evaluate_matmul(Inputs inputs);
HostTensor evaluate_reduce(OpKind kind, const AttrBlock& attrs, Inputs inputs);

// Transcendental functions of + - * / and sqrt alone: within 2 ulp or so, and the same on every IEEE machine.
namespace exact {
double exp(double x);
double log(double x);
double pow(double x, double y);
double tanh(double x);
double erf(double x);
double sin(double x);
double cos(double x);
}

}
