#pragma once

#include <optional>
#include <vector>

#include "core/graph/op.h"
#include "core/rules/examples/choices.h"
#include "core/rules/examples/example_cells.h"
#include "core/rules/examples/example_limits.h"
#include "core/rules/examples/example_roles.h"
#include "core/rules/examples/rule_hints.h"

namespace regraft::rules {

/// Chooses dims of an operation's operands so that they fit together more often than not.
class ExampleShapes : public ExampleCells {
 public:
  using K = graph::OpKind;

  /// `gates`: those of a recurrent cell, 0 for rules of none.
  ExampleShapes(Choices& choices, const ExampleLimits& limits, std::size_t gates)
      : ExampleCells(choices, limits, gates) {}

  std::int64_t trans_a() const { return static_cast<std::int64_t>(trans_a_); }
  std::int64_t trans_b() const { return static_cast<std::int64_t>(trans_b_); }
  /// The axis of the normalisation whose scale was chosen last.
  std::int64_t norm_axis() const { return norm_axis_; }

  /// Dims of a first operand that must fit a later one.
  Dims fitting_first(graph::OpKind kind, const Dims& other, const RankRange& range) {
    refuse_many(range);
    if (kind == K::matmul && !other.empty()) {
      Dims dims = some_dims(std::max<std::size_t>(1, range.least > 0 ? rank_of(range, 1) : 2));
      dims.back() = other[other.size() < 2 ? 0 : other.size() - 2];
      return dims;
    }
    if (kind == K::conv) return image_for(other);
    if (graph::is_recurrence(kind)) return rows_for(other);
    const bool elementwise = graph::op_info(kind).is(graph::kElementwise);
    return elementwise && choices_.drawn(4) == 0 ? broadcast_to(other, range) : other;
  }

  /// Dims of the first operand of what leads to a convolution whose weight is computed.
  Dims part_dims(ExampleRoles::Role role, const RankRange& range) {
    refuse_many(range);
    return role == ExampleRoles::Role::weight ? weight_part(range) : image_part(range);
  }

  /// Dims of the first operand. `may_transpose`: a Gemm's first operand may be read transposed.
  Dims first_dims(graph::OpKind kind, const RankRange& range, bool may_transpose) {
    refuse_many(range);
    if (const auto cell = first_of_cell()) return *cell;
    switch (kind) {
      case K::conv:
      case K::max_pool:
      case K::average_pool:
      case K::global_average_pool:
        image_ = image_dims();
        if (range.most == 3) image_.resize(3);  // rows
        while (image_.size() < range.least) image_.push_back(4);
        return image_;
      case K::batch_norm:
        return normalised_dims();
      case K::gemm:
        trans_a_ = may_transpose && choices_.drawn(3) == 0;
        return some_dims(2);
      case K::matmul:
        return some_dims(choices_.drawn(6) == 0 ? rank_of(range, 1) : rank_of(range, 2));
      case K::reshape:
        return rows_ = rows_dims(rank_of(range, 2));
      case K::multi_head_attention:
        return headed_dims();
      case K::lstm:
      case K::gru:
        return rows_for({});
      case K::slice:
      case K::split:
        return with_a_larger_one(some_dims(choices_.drawn(8) == 0 ? rank_of(range, 0) : rank_of(range, 1)));
      case K::gather:
      case K::resize:
      case K::transpose:
        return some_dims(choices_.drawn(8) == 0 ? rank_of(range, 1) : rank_of(range, 2));
      default:
        return some_dims(choices_.drawn(12) == 0 ? rank_of(range, 0) : rank_of(range, 1));
    }
  }

  /// A tensor's last dim taken apart into heads, or neighbours made one, where that gives so many dims.
  std::optional<Dims> reshape_to(std::size_t rank, Dims x) {
    constexpr std::size_t kBlocks = 6, kImage = 4;
    if (x.size() == kBlocks && rank == kImage && choices_.drawn(4) > 0)  // pixels of a block as channels
      return Dims{x[0], x[1] * x[2] * x[3], x[4], x[5]};
    if (x.size() > rank && rank > 0) {
      for (; x.size() > rank; x.pop_back()) {
        const std::size_t last = x.size() - 1;
        const std::size_t at = last == rank ? rank - 1 : choices_.drawn(last);
        x[at] *= x[at + 1];
        std::copy(x.begin() + static_cast<std::ptrdiff_t>(at) + 2, x.end(),
                  x.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      }
      return x;
    }
    if (x.size() == rank && rank == 3 && (x[0] == 1 || x[1] == 1)) {  // tokens, in a batch of one
      x[0] *= x[1];
      x.erase(x.begin() + 1);
    }
    if (x.size() + 1 != rank || x.empty()) return std::nullopt;
    if (heads_ == 0 || choices_.drawn(12) == 0) heads_ = choices_.pick({1, 2});
    if (x.back() % heads_ != 0) return std::nullopt;
    x.push_back(x.back() / heads_);
    x[rank - 2] = heads_;
    return x;
  }
  /// The axis along which operands of the last Concat differ in size.
  std::optional<std::size_t> joined_axis() const { return joined_axis_; }
  /// Heads of the attention whose operands were chosen last.
  std::int64_t heads() const { return heads_; }

  /// The labels of the Einsum whose operands were chosen last.
  const Dims& labels() const { return labels_; }

  /// Dims of a further operand, given the dims of those before it.
  Dims next_dims(graph::OpKind kind, const std::vector<Dims>& given, const RankRange& range) {
    refuse_many(range);
    const Dims& first = given[0];
    const std::size_t n = given.size();
    const bool wide = kind == K::conv                            ? first.size() > 2
                      : kind == K::gemm || kind == K::batch_norm ? first.size() > 1
                                                                 : true;
    const bool any = kind == K::matmul || kind == K::layer_norm;
    if (!wide || (any && first.empty())) throw graph::GraphError("the draw does not fit", "instance", "");
    if (const auto cell = cell_dims(kind, given)) return *cell;
    switch (kind) {
      case K::conv:
        if (n == 2) return {given[1][0]};
        group_ = some_group(first[1]);
        return weight_dims(first);
      case K::gemm: {
        if (n == 2) return added_dims(given);
        const std::int64_t other = choices_.pick({2, 3}), inner = first[trans_a_ ? 0 : 1];
        trans_b_ = choices_.below(2);
        return trans_b_ ? Dims{other, inner} : Dims{inner, other};
      }
      case K::matmul:
        return second_of_product(first, range);
      case K::batch_norm:
        return {first[1]};
      case K::layer_norm:
        return n == 1 ? scale_dims(first, range) : given[1];
      case K::concat:
        return joined_dims(given);
      case K::einsum:
        return contracted_dims(first, range);
      case K::multi_head_attention:
        return attended_dims(given);
      case K::lstm:
      case K::gru:
        return recurrent_dims(kind == K::lstm ? 4 : 3, given);
      case K::quantize_linear:
      case K::dequantize_linear:
        if (n == 2) return given[1];
        return choices_.drawn(2) == 0 ? Dims{} : Dims{1};
      default:
        return broadcast_dims(first, range);
    }
  }

 private:
  static void refuse_many(const RankRange& range) {
    constexpr std::size_t kMostRank = 8;
    if (range.least > kMostRank) throw graph::GraphError("more dims than examples have", "instance", "");
  }
  // What is taken apart in steps, or in parts of different sizes, wants some length.
  Dims with_a_larger_one(Dims dims) {
    if (!dims.empty() && choices_.drawn(4) == 0)
      dims[choices_.drawn(dims.size())] = 5 + static_cast<std::int64_t>(choices_.drawn(5));
    return dims;
  }
  // As the rows before, but perhaps in one dim: products of both then fit more often.
  Dims rows_dims(std::size_t rank) {
    if (rows_.size() != rank || rank < 2 || choices_.drawn(3) == 0)
      return some_dims(choices_.drawn(8) == 0 ? std::max<std::size_t>(rank, 1) : rank);
    Dims dims = rows_;
    if (choices_.drawn(2) == 0) dims[rank - 2] = choices_.pick(limits_.dims);
    return dims;
  }
  // As the first, but perhaps for one dim, along which they are joined then.
  Dims joined_dims(const std::vector<Dims>& given) {
    Dims dims = given[0];
    if (given.size() == 1) joined_axis_.reset();
    if (dims.empty() || choices_.drawn(3) > 0) return dims;
    if (!joined_axis_ || *joined_axis_ >= dims.size()) joined_axis_ = choices_.drawn(dims.size());
    dims[*joined_axis_] = choices_.pick(limits_.dims);
    return dims;
  }
  Dims headed_dims() {
    heads_ = choices_.drawn(6) == 0 ? near_named(kMostHeads).value_or(3) : choices_.pick({1, 2});
    Dims dims = some_dims(3);
    dims[2] = heads_ * choices_.pick({1, 2});
    return dims;
  }
  // Some dims of the first, and others; what both have is in the output or summed.
  Dims contracted_dims(const Dims& first, const RankRange& range) {
    Dims dims, own, output;
    for (std::size_t i = 0; i < first.size(); ++i) own.push_back(static_cast<std::int64_t>(i));
    labels_ = output = own;
    for (std::size_t left = rank_of(range, choices_.drawn(12) == 0 ? 0 : 1), fresh = first.size(); left > 0;
         --left) {
      if (own.empty() || choices_.drawn(3) == 0) {
        dims.push_back(choices_.pick(limits_.dims));
        labels_.push_back(static_cast<std::int64_t>(fresh++));
        output.push_back(labels_.back());
        continue;
      }
      const auto shared = own.begin() + static_cast<std::ptrdiff_t>(choices_.drawn(own.size()));
      dims.push_back(first[static_cast<std::size_t>(*shared)]);
      labels_.push_back(*shared);
      if (choices_.drawn(2) == 0) std::erase(output, *shared);
      own.erase(shared);
    }
    for (std::size_t i = output.size(); i > 1; --i) std::swap(output[i - 1], output[choices_.drawn(i)]);
    labels_.insert(labels_.end(), output.begin(), output.end());
    return dims;
  }
  // A number of heads that divides so many columns.
  std::int64_t some_heads(std::int64_t columns) {
    const std::int64_t wanted =
        near_named(kMostHeads).value_or(3 + static_cast<std::int64_t>(choices_.drawn(2)));
    if (columns % wanted == 0 && choices_.drawn(2) == 0) return wanted;
    return columns % 2 == 0 ? choices_.pick({1, 2}) : 1;
  }
  // Keys, values, a bias of all three, a mask that is never there, and what is added to the scores.
  Dims attended_dims(const std::vector<Dims>& given) {
    const Dims &q = given[0], &k = given.size() > 1 ? given[1] : q, &v = given.size() > 2 ? given[2] : q;
    if (q.size() != 3 || k.size() != 3 || v.size() != 3)
      throw graph::GraphError("the draw does not fit", "instance", "");
    if (heads_ == 0 || q[2] % heads_ != 0) heads_ = some_heads(q[2]);
    switch (given.size()) {
      case 1:
        return {q[0], choices_.pick(limits_.dims), q[2]};
      case 2:
        return {q[0], k[1], heads_ * choices_.pick({1, 2})};
      case 3:
        return {2 * q[2] + v[2]};
      default:
        return {choices_.one_in(2) ? 1 : q[0], choices_.one_in(2) ? 1 : heads_, q[1], k[1]};
    }
  }
  // One that the guards allow, and where they say nothing at least `least`. Enumerations go through them
  // where no guard speaks of the rank.
  std::size_t rank_of(const RankRange& range, std::size_t least) {
    const std::size_t low = range.least > 0 || range.most < least ? range.least : least;
    const std::size_t high = std::max(low, std::min(range.most, limits_.most_rank));
    if (low == high) return low;
    if (range.least == 0) return low + choices_.below(high + 1 - low);
    return low + (choices_.drawn(2) == 0 ? 0 : choices_.drawn(high + 1 - low));
  }
  Dims some_dims(std::size_t rank) {
    Dims dims;
    for (std::size_t i = 0; i < rank; ++i) dims.push_back(choices_.pick(limits_.dims));
    return dims;
  }

  Dims normalised_dims() {
    Dims dims = {choices_.pick({1, 2}), choices_.pick({2, 3})};
    if (const std::size_t kind = choices_.drawn(6); kind > 0)
      dims.push_back(choices_.pick({2, 3}));
    else if (choices_.drawn(2) == 0)
      dims.insert(dims.end(), 2, choices_.pick({2, 3}));
    return dims;
  }

  Dims second_of_product(const Dims& first, const RankRange& range) {
    if (range.least < 2 && choices_.drawn(8) == 0) return {first.back()};
    Dims dims = {first.back(), choices_.pick({2, limits_.dims.back(), 4})};
    const bool flat = range.exact() ? range.least <= 2 : choices_.one_in(2);
    if (flat && range.least <= 2) return dims;
    Dims outer(first.begin(), first.end() - std::min<std::ptrdiff_t>(2, std::ssize(first)));
    // More batch dims than the first operand has, or other ones.
    if (choices_.drawn(6) == 0) outer.insert(outer.begin(), choices_.pick(limits_.dims));
    if (choices_.drawn(4) == 0) vary(outer);
    while (range.exact() && outer.size() + 2 < range.least) outer.insert(outer.begin(), 1);
    while (outer.size() + 2 > range.most) outer.erase(outer.begin());
    dims.insert(dims.begin(), outer.begin(), outer.end());
    return dims;
  }

  // Dims of one become others and others one: what is repeated along them.
  void vary(Dims& dims) {
    for (std::int64_t& d : dims) {
      if (choices_.drawn(2) == 0) d = d == 1 ? choices_.pick(limits_.dims) : 1;
    }
  }

  // What a Gemm adds: a row, one row, a column, a number, or the whole.
  Dims added_dims(const std::vector<Dims>& given) {
    const std::int64_t columns = gemm_columns(given), rows = given[0][trans_a_ ? 1 : 0];
    if (choices_.drawn(4) > 0) return choices_.one_in(2) ? Dims{columns} : Dims{1, columns};
    switch (choices_.drawn(4)) {
      case 0:
        return {rows, columns};
      case 1:
        return {rows, 1};
      case 2:
        return {1};
      default:
        return {};
    }
  }

  // Over the last dim more often than not.
  Dims scale_dims(const Dims& first, const RankRange& range) {
    const std::size_t rank = first.size();
    const std::size_t axis = choices_.drawn(3) == 0 ? choices_.drawn(rank) : rank - 1;
    norm_axis_ = static_cast<std::int64_t>(axis);
    Dims dims(first.begin() + static_cast<std::ptrdiff_t>(axis), first.end());
    while (dims.size() > std::max<std::size_t>(1, range.most)) dims.erase(dims.begin());
    return dims;
  }

  // What is broadcast to, with, or from `first`.
  Dims broadcast_dims(const Dims& first, const RankRange& range) {
    Dims dims = first;
    switch (choices_.below(5)) {
      case 0:
        dims = {};
        break;
      case 1:
        dims = first.empty() ? Dims{} : Dims{first.back()};
        break;
      case 2:
        for (std::int64_t& d : dims) d = choices_.one_in(2) ? 1 : d;
        if (choices_.drawn(3) == 0) vary(dims);  // each along what the other has one of
        break;
      case 3:
        for (std::int64_t& d : dims) {
          if (d == 1) d = choices_.pick(limits_.dims);
        }
        if (choices_.drawn(2) == 0) dims.insert(dims.begin(), choices_.pick(limits_.dims));
        break;
      default:
        break;
    }
    return with_rank(std::move(dims), range);
  }
  // What was made before is repeated along it, or it along that: an enumeration goes through neither.
  Dims broadcast_to(Dims dims, const RankRange& range) {
    const std::size_t some = dims.empty() ? 0 : choices_.drawn(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (i != some && choices_.drawn(3) > 0) continue;
      dims[i] = dims[i] == 1 ? limits_.dims[choices_.drawn(limits_.dims.size())] : 1;
    }
    if (!dims.empty() && choices_.drawn(4) == 0) dims.erase(dims.begin());
    return with_rank(std::move(dims), range);
  }
  static Dims with_rank(Dims dims, const RankRange& range) {
    while (dims.size() > range.most) dims.erase(dims.begin());
    while (dims.size() < range.least) dims.insert(dims.begin(), 1);
    return dims;
  }
  std::int64_t gemm_columns(const std::vector<Dims>& given) const { return given[1][trans_b_ ? 0 : 1]; }

  static constexpr std::int64_t kMostHeads = 8;  // more would take long

  Dims rows_;    // of the Reshape before
  Dims labels_;  // of the Einsum before
  std::int64_t heads_ = 0;
  bool trans_a_ = false;
  std::int64_t norm_axis_ = 0;
};

}
