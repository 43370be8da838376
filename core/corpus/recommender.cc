#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"

namespace regraft::corpus {
namespace {

Tensor layers_of(Net& net, Tensor x, const Ints& widths, Activation last) {
  for (std::size_t i = 0; i < widths.size(); ++i)
    x = activate(net, linear(net, x, widths[i]), i + 1 == widths.size() ? last : Activation::relu);
  return x;
}

/// [batch, features, width]: all pairs' dot products, those below the diagonal.
Tensor pairs(Net& net, const Tensor& rows) {
  const std::int64_t count = rows.dim(1);
  const Tensor dots = matmul(net, rows, transpose(net, rows, {0, 2, 1}));
  const Tensor flat = reshape(net, dots, {rows.dim(0), count * count});
  Ints places;
  for (std::int64_t i = 1; i < count; ++i)
    for (std::int64_t j = 0; j < i; ++j) places.push_back(i * count + j);
  const auto length = static_cast<std::int64_t>(places.size());
  return net.node("Gather", {flat, net.table({length}, places)}, {rows.dim(0), length}, {{"axis", 1}});
}

/// Half of (sum of rows)^2 - sum of rows^2: the sum of all pairs' products (Rendle 2010).
Tensor factorisation(Net& net, const Tensor& rows) {
  const Tensor sum = reduce(net, "ReduceSum", rows, {1}, false);
  const Tensor square_of_sum = mul(net, sum, sum);
  const Tensor sum_of_squares = reduce(net, "ReduceSum", mul(net, rows, rows), {1}, false);
  return binary(net, "Mul", binary(net, "Sub", square_of_sum, sum_of_squares), 0.5);
}

/// x0 * (W x + b) + x, some times (Wang et al. 2021).
Tensor crosses(Net& net, const Tensor& start, std::int64_t count) {
  Tensor x = start;
  for (std::int64_t i = 0; i < count; ++i) x = add(net, mul(net, start, linear(net, x, x.dim(1))), x);
  return x;
}

}  // namespace

/// Recommenders: rows of tables and a network of numbers, crossed as in DLRM, DeepFM or DCN.
void build_recommender(Net& net, Draw& draw) {
  const std::int64_t batch = draw.pick({16, 64, 128, 256, 512}), tables = draw.pick({4, 8, 13, 26});
  const std::int64_t width = draw.pick({16, 32, 64}), rows = draw.pick({1000, 4000, 10000});
  const std::int64_t inner = draw.pick({128, 256, 512}), kind = draw.pick({0, 1, 2});
  const bool one_input = draw.chance(0.5);
  const Tensor numbers = net.input("numbers", {batch, 13});
  const Tensor x = layers_of(net, numbers, {inner, inner / 2, width}, Activation::relu);
  std::vector<Tensor> features = {unsqueeze(net, x, 1)};
  const Tensor all = one_input ? net.input("ids", {batch, tables}, Element::int64) : Tensor{};
  for (std::int64_t i = 0; i < tables; ++i) {
    const Tensor ids =
        one_input ? select(net, all, 1, i) : net.input("id_" + std::to_string(i), {batch}, Element::int64);
    features.push_back(unsqueeze(net, embedding(net, ids, rows, width), 1));
  }
  const Tensor joined = concat(net, features, 1);
  const Tensor flat = reshape(net, joined, {batch, (tables + 1) * width});
  Tensor crossed;
  if (kind == 0)
    crossed = concat(net, {x, pairs(net, joined)}, 1);
  else if (kind == 1)
    crossed = concat(net, {factorisation(net, joined), flat}, 1);
  else
    crossed = crosses(net, flat, draw.pick({2, 3}));
  net.output(layers_of(net, crossed, {inner, inner / 2, 1}, Activation::sigmoid));
}

}
