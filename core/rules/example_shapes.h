#pragma once

#include <optional>
#include <vector>

#include "core/graph/op.h"
#include "core/rules/choices.h"
#include "core/rules/example_generator.h"

namespace regraft::rules {

/// Chooses dims of an operation's operands so that they fit together more often than not.
class ExampleShapes {
 public:
  using Dims = graph::Ints;
  using K = graph::OpKind;

  ExampleShapes(Choices& choices, const ExampleLimits& limits) : choices_(choices), limits_(limits) {}

  // Of the weight chosen last.
  const Dims& kernel() const { return kernel_; }
  std::int64_t group() const { return group_; }
  std::int64_t trans_b() const { return static_cast<std::int64_t>(trans_b_); }

  /// Of a first operand that must fit a later one.
  Dims fitting_first(graph::OpKind kind, const Dims& other, std::size_t rank) {
    if (kind == K::matmul && other.size() >= 2) {
      Dims dims = some_dims(rank > 0 ? rank : 2);
      dims.back() = other[other.size() - 2];
      return dims;
    }
    return other;
  }

  /// Of the first operand.
  Dims first_dims(graph::OpKind kind, std::optional<std::size_t> rank) {
    switch (kind) {
      case K::conv:
      case K::max_pool:
      case K::average_pool:
      case K::global_average_pool:
        return image_dims();
      case K::batch_norm:
        return {choices_.pick({1, 2}), choices_.pick({2, 3}), choices_.pick({2, 3})};
      case K::gemm:
        return some_dims(2);
      case K::matmul:
        return some_dims(rank.value_or(rank_from(2)));
      case K::reshape:
      case K::gather:
      case K::transpose:
        return some_dims(rank.value_or(rank_from(2)));
      default:
        return some_dims(rank.value_or(rank_from(1)));
    }
  }

  /// All the same, or each for itself.
  graph::Ints each(std::size_t count, const Dims& from) {
    graph::Ints out(count, choices_.pick(from));
    if (count > 1 && !limits_.few_windows && choices_.one_in(3)) {
      for (std::int64_t& v : out) v = choices_.pick(from);
    }
    return out;
  }

  /// Of a further operand, given the dims of those before it.
  Dims next_dims(graph::OpKind kind, const std::vector<Dims>& given, std::optional<std::size_t> rank) {
    const Dims& first = given[0];
    const std::size_t n = given.size();
    const bool wide = kind == K::conv                            ? first.size() > 2
                      : kind == K::gemm || kind == K::batch_norm ? first.size() > 1
                                                                 : true;
    const bool any = kind == K::matmul || kind == K::layer_norm;
    if (!wide || (any && first.empty())) throw graph::GraphError("the draw does not fit", "instance", "");
    switch (kind) {
      case K::conv:
        if (n == 2) return {given[1][0]};
        group_ = some_group(first[1]);
        return weight_dims(first);
      case K::gemm: {
        if (n == 2) return choices_.one_in(2) ? Dims{gemm_columns(given)} : Dims{1, gemm_columns(given)};
        const std::int64_t other = choices_.pick({2, 3});
        trans_b_ = choices_.below(2);
        return trans_b_ ? Dims{other, first[1]} : Dims{first[1], other};
      }
      case K::matmul: {
        Dims dims = {first.back(), choices_.pick({2, limits_.dims.back(), 4})};
        const std::size_t wanted = rank.value_or(choices_.one_in(2) ? 2 : first.size());
        if (wanted > 2 && first.size() > 2) dims.insert(dims.begin(), first.begin(), first.end() - 2);
        return dims;
      }
      case K::batch_norm:
        return {first[1]};
      case K::layer_norm:
        return {first.back()};
      case K::concat:
        return first;
      default:
        return broadcast_dims(first, rank);
    }
  }

 private:
  std::size_t rank_from(std::size_t least) { return least + choices_.below(limits_.most_rank + 1 - least); }
  Dims some_dims(std::size_t rank) {
    Dims dims;
    for (std::size_t i = 0; i < rank; ++i) dims.push_back(choices_.pick(limits_.dims));
    return dims;
  }

  // A number of groups that divides the channels.
  std::int64_t some_group(std::int64_t channels) {
    Dims groups = {1};
    for (std::int64_t g : {1, 2, 4, 8}) {
      if (channels % g == 0) groups.push_back(g);
    }
    return choices_.pick(groups);
  }

  Dims image_dims() {
    if (limits_.few_windows) return {choices_.pick({1, 2}), choices_.pick({2, 8}), 4};
    if (limits_.one_spatial_dim) return {choices_.pick({1, 2}), choices_.pick({2, 4}), choices_.pick({3, 4})};
    return {choices_.pick({1, 2}), choices_.pick({2, 4, 8}), choices_.pick({4, 5}), choices_.pick({4, 6})};
  }

  Dims weight_dims(const Dims& first) {
    kernel_ = each(first.size() - 2, {1, 1, 3});
    Dims dims = {group_ * choices_.pick({1, 2}), first[1] / group_};
    dims.insert(dims.end(), kernel_.begin(), kernel_.end());
    return dims;
  }

  // What is broadcast to, or with, `first`.
  Dims broadcast_dims(const Dims& first, std::optional<std::size_t> rank) {
    Dims dims = first;
    switch (choices_.below(4)) {
      case 0:
        dims = {};
        break;
      case 1:
        dims = first.empty() ? Dims{} : Dims{first.back()};
        break;
      case 2:
        for (std::int64_t& d : dims) d = choices_.one_in(2) ? 1 : d;
        break;
      default:
        break;
    }
    while (rank && dims.size() > *rank) dims.erase(dims.begin());
    return dims;
  }
  std::int64_t gemm_columns(const std::vector<Dims>& given) const { return given[1][trans_b_ ? 0 : 1]; }

  Choices& choices_;
  const ExampleLimits& limits_;
  std::int64_t group_ = 1;
  Dims kernel_;
  std::size_t trans_b_ = 0;
};

}  // namespace regraft::rules
