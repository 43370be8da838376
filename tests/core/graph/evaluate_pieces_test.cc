#include "core/graph/evaluate_pieces.h"
#include "core/graph/constants.h"

#include <gtest/gtest.h>

#include "core/graph/evaluate.h"
#include "core/graph/host_tensors.h"

namespace regraft::graph {
namespace {

class PiecesTest : public ::testing::Test {
 protected:
  WeightId random(const std::vector<std::int64_t>& dims, DType dtype = DType::float32) {
    HostTensor host;
    host.dtype = dtype;
    host.dims = dims;
    for (std::int64_t i = 0; i < test::count(dims); ++i) host.real.push_back(rng.uniform(-2, 2));
    return tables.weights().literal(tables.intern(dtype, dims), host.to_bytes());
  }
  WeightId op(OpKind kind, const std::vector<WeightId>& args, const AttrBlock& attrs = {}) {
    return constant_operation(tables, kind, tables.intern(attrs), args);
  }
  /// The bytes in pieces, and of how many elements the largest was.
  std::vector<std::byte> in_pieces(WeightId weight, std::size_t piece, std::size_t& largest) {
    std::vector<std::byte> bytes;
    largest = 0;
    evaluate_in_pieces(
        tables, weight,
        [&](std::span<const std::byte> part) {
          bytes.insert(bytes.end(), part.begin(), part.end());
          largest = std::max(largest, part.size() / sizeof(float));
        },
        piece);
    return bytes;
  }

  Tables tables;
  Rng rng{1, "pieces"};
};

TEST_F(PiecesTest, AreTogetherWhatIsFoldedWhole) {
  const WeightId w = random({12, 5}), row = random({5}), column = random({12, 1}), one = random({1});
  const WeightId flipped = op(OpKind::transpose, {random({5, 12})}, {{Attr::perm, Ints{1, 0}}});
  const WeightId scaled = op(OpKind::mul, {w, column});
  const std::vector<WeightId> roots{
      scaled,
      op(OpKind::mul, {row, w}),
      op(OpKind::add, {op(OpKind::mul, {flipped, op(OpKind::reciprocal, {row})}), one}),
      op(OpKind::sub,
         {w, op(OpKind::transpose, {op(OpKind::mul, {random({5, 12}), one})}, {{Attr::perm, Ints{1, 0}}})}),
      op(OpKind::mul, {random({1, 12, 5}), w}),
      op(OpKind::neg, {op(OpKind::cast, {random({12, 5}, DType::float16)}, {{Attr::to, std::int64_t{1}}})})};
  for (const WeightId root : roots) {
    for (const std::size_t piece : {1, 7, 20, 59}) {
      std::size_t largest = 0;
      EXPECT_EQ(in_pieces(root, piece, largest), evaluate_bytes(tables, root))
          << index(root) << ", " << piece;
      EXPECT_LE(largest, std::max<std::size_t>(piece, 5));
    }
  }
}

TEST_F(PiecesTest, WhatIsSmallOrMovesComesWhole) {
  std::size_t largest = 0;
  const WeightId w = random({12, 5});
  const WeightId moved = op(OpKind::reshape, {w}, {{Attr::shape, Ints{5, 12}}});
  EXPECT_EQ(in_pieces(moved, 10, largest), evaluate_bytes(tables, moved));
  EXPECT_EQ(largest, 60u);
  const WeightId scaled = op(OpKind::mul, {w, random({1})});
  EXPECT_EQ(in_pieces(scaled, 60, largest), evaluate_bytes(tables, scaled));
  EXPECT_EQ(largest, 60u);
}

}  // namespace
}
