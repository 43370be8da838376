#include "core/graph/op.h"
#include "core/proof/exact/exact_tensor.h"

namespace regraft::proof {
namespace {

using graph::Attr;
using graph::Ints;

/// One MultiHeadAttention: softmax(scale q k + added) v for each head, where q, k and v are slices of their
/// tensors' last dim, each with its part of the bias.
class Attention {
 public:
  Attention(const graph::AttrBlock& attrs, ExactInputs in)
      : in_(in),
        heads_(attrs.integer(Attr::num_heads)),
        scale_(Exact::of(attrs.real(Attr::scale))),
        keys_(in[1]->dims[1]),
        width_(in[0]->dims[2] / heads_) {}

  /// Weights of one query of one head of one batch.
  std::vector<Exact> weights(std::int64_t batch, std::int64_t head, std::int64_t query) const {
    std::vector<Exact> row;
    for (std::int64_t key = 0; key < keys_; ++key) row.push_back(score(batch, head, query, key));
    Exact largest = row[0], sum;
    for (const Exact& s : row) largest = larger(largest, s);
    for (Exact& s : row) sum = sum + (s = exact_function(graph::OpKind::exp, s - largest));
    for (Exact& s : row) s = s / sum;
    return row;
  }
  Exact value(std::int64_t batch, std::int64_t key, std::int64_t column) const {
    return in_[2]->at(Ints{batch, key, column}) + bias(2 * in_[0]->dims[2] + column);
  }

 private:
  const ExactTensor* optional(std::size_t i) const { return i < in_.size() ? in_[i] : nullptr; }
  Exact bias(std::int64_t at) const {
    const ExactTensor* bias = optional(3);
    return bias ? bias->values[static_cast<std::size_t>(at)] : Exact{};
  }
  Exact score(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key) const {
    Exact sum;
    for (std::int64_t c = head * width_; c < (head + 1) * width_; ++c)
      sum = sum + (in_[0]->at(Ints{batch, query, c}) + bias(c)) *
                      (in_[1]->at(Ints{batch, key, c}) + bias(in_[0]->dims[2] + c));
    const ExactTensor* added = optional(5);
    return sum * scale_ + (added ? added->broadcast_at(Ints{batch, head, query, key}) : Exact{});
  }

  ExactInputs in_;
  std::int64_t heads_;
  Exact scale_;
  std::int64_t keys_, width_;
};

}  // namespace

ExactTensor exact_attention(const graph::AttrBlock& attrs, ExactInputs inputs, ExactTensor out) {
  if (out.values.empty()) return out;
  if (inputs.size() > 4 && inputs[4]) throw Undecided("a mask of keys is not known", "exact evaluation", "");
  const Attention attention(attrs, inputs);
  const std::int64_t heads = attrs.integer(Attr::num_heads), width = out.dims[2] / heads;
  std::size_t i = 0;
  for (std::int64_t batch = 0; batch < out.dims[0]; ++batch)
    for (std::int64_t query = 0; query < out.dims[1]; ++query)
      for (std::int64_t head = 0; head < heads; ++head) {
        const std::vector<Exact> weights = attention.weights(batch, head, query);
        for (std::int64_t c = head * width; c < (head + 1) * width; ++c, ++i)
          for (std::size_t key = 0; key < weights.size(); ++key)
            out.values[i] =
                out.values[i] + weights[key] * attention.value(batch, static_cast<std::int64_t>(key), c);
      }
  return out;
}

}
