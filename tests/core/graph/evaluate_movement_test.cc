#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/host_tensors.h"

namespace regraft::graph {
namespace {

using namespace test;

/// The result of a movement op, given where each output element comes from.
void expect_moved(const HostTensor& result, const HostTensor& source, const Index& dims,
                  const std::function<Index(const Index&)>& origin) {
  ASSERT_EQ(result.dims, dims);
  ASSERT_EQ(result.integer.size(), static_cast<std::size_t>(count(dims)));
  each(dims, [&](const Index& at) {
    EXPECT_EQ(result.integer[flat(dims, at)], source.integer[flat(source.dims, origin(at))]);
  });
}

TEST(Movement, TransposeOfEveryPermutation) {
  const HostTensor x = numbered({2, 3, 1, 4});
  Ints perm{0, 1, 2, 3};
  do {
    Index dims;
    for (const auto axis : perm) dims.push_back(x.dims[static_cast<std::size_t>(axis)]);
    expect_moved(run(OpKind::transpose, {{Attr::perm, perm}}, {x}), x, dims, [&](const Index& at) {
      Index source(4);
      for (std::size_t i = 0; i < 4; ++i) source[static_cast<std::size_t>(perm[i])] = at[i];
      return source;
    });
  } while (std::next_permutation(perm.begin(), perm.end()));
}

TEST(Movement, TransposeLargerThanItsBlocks) {
  const HostTensor x = numbered({37, 5, 41});
  for (const Ints& perm : {Ints{2, 1, 0}, Ints{0, 2, 1}, Ints{1, 2, 0}}) {
    Index dims;
    for (const auto axis : perm) dims.push_back(x.dims[static_cast<std::size_t>(axis)]);
    expect_moved(run(OpKind::transpose, {{Attr::perm, perm}}, {x}), x, dims, [&](const Index& at) {
      Index source(3);
      for (std::size_t i = 0; i < 3; ++i) source[static_cast<std::size_t>(perm[i])] = at[i];
      return source;
    });
  }
}

TEST(Movement, SliceForwardsAndBackwards) {
  const HostTensor x = numbered({5, 7});
  const AttrBlock attrs{{Attr::starts, Ints{1, 6}},
                        {Attr::ends, Ints{5, -1}},
                        {Attr::axes, Ints{0, 1}},
                        {Attr::steps, Ints{2, -3}}};
  expect_moved(run(OpKind::slice, attrs, {x}), x, {2, 3}, [](const Index& at) {
    return Index{1 + 2 * at[0], 6 - 3 * at[1]};
  });
}

TEST(Movement, ConcatAndSplitAreInverse) {
  const HostTensor x = numbered({2, 7, 3});
  const AttrBlock attrs{{Attr::axis, std::int64_t{1}}, {Attr::split, Ints{2, 4, 1}}};
  std::vector<HostTensor> parts;
  std::int64_t start = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    parts.push_back(run(OpKind::split, attrs, {x}, k));
    const std::int64_t size = attrs.ints(Attr::split)[k];
    expect_moved(parts.back(), x, {2, size, 3}, [&](const Index& at) {
      return Index{at[0], at[1] + start, at[2]};
    });
    start += size;
  }
  const HostTensor back = run(OpKind::concat, {{Attr::axis, std::int64_t{1}}}, parts);
  EXPECT_EQ(back.dims, x.dims);
  EXPECT_EQ(back.integer, x.integer);
}

TEST(Movement, GatherTakesNegativeIndicesAndRefusesOthers) {
  const HostTensor x = numbered({2, 5, 3}), indices = integers({2, 2}, {4, -5, 0, -1});
  const AttrBlock attrs{{Attr::axis, std::int64_t{1}}};
  expect_moved(run(OpKind::gather, attrs, {x, indices}), x, {2, 2, 2, 3}, [&](const Index& at) {
    const std::int64_t index = indices.integer[static_cast<std::size_t>(2 * at[1] + at[2])];
    return Index{at[0], (index + 5) % 5, at[3]};
  });
  EXPECT_THROW(run(OpKind::gather, attrs, {x, integers({1}, {5})}), GraphError);
  const HostTensor picks = integers({2, 1, 3}, {4, 0, -1, 1, 2, 3});
  expect_moved(run(OpKind::gather_elements, attrs, {x, picks}), x, {2, 1, 3}, [&](const Index& at) {
    return Index{at[0], (picks.integer[flat(picks.dims, at)] + 5) % 5, at[2]};
  });
}

TEST(Movement, ExpandTileAndReshape) {
  const HostTensor x = numbered({3, 1});
  expect_moved(run(OpKind::expand, {{Attr::shape, Ints{2, 1, 4}}}, {x}), x, {2, 3, 4}, [](const Index& at) {
    return Index{at[1], 0};
  });
  const HostTensor y = numbered({2, 3});
  expect_moved(run(OpKind::tile, {{Attr::repeats, Ints{2, 3}}}, {y}), y, {4, 9}, [](const Index& at) {
    return Index{at[0] % 2, at[1] % 3};
  });
  EXPECT_EQ(run(OpKind::reshape, {{Attr::shape, Ints{0, -1, 1}}}, {y}).dims, (Index{2, 3, 1}));
  EXPECT_EQ(run(OpKind::flatten, {{Attr::axis, std::int64_t{0}}}, {y}).dims, (Index{1, 6}));
  EXPECT_EQ(run(OpKind::squeeze, {{Attr::axes, Ints{1}}}, {x}).dims, (Index{3}));
  EXPECT_EQ(run(OpKind::unsqueeze, {{Attr::axes, Ints{0, 2}}}, {y}).dims, (Index{1, 2, 1, 3}));
  EXPECT_THROW(run(OpKind::reshape, {{Attr::shape, Ints{5}}}, {y}), GraphError);
}

TEST(Movement, PadInEveryMode) {
  const HostTensor x = numbered({4});
  const auto padded = [&](const char* mode, Ints pads) {
    return run(OpKind::pad,
               {{Attr::pads, std::move(pads)}, {Attr::mode, std::string(mode)}, {Attr::value, 9.0}}, {x})
        .integer;
  };
  EXPECT_EQ(padded("constant", {2, 1}), (std::vector<std::int64_t>{9, 9, 0, 1, 2, 3, 9}));
  EXPECT_EQ(padded("constant", {-1, -1}), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(padded("edge", {2, 1}), (std::vector<std::int64_t>{0, 0, 0, 1, 2, 3, 3}));
  EXPECT_EQ(padded("reflect", {2, 2}), (std::vector<std::int64_t>{2, 1, 0, 1, 2, 3, 2, 1}));
  EXPECT_EQ(padded("wrap", {1, 1}), (std::vector<std::int64_t>{3, 0, 1, 2, 3, 0}));
  const HostTensor block =
      run(OpKind::pad, {{Attr::pads, Ints{0, 1, 1, 0}}, {Attr::mode, std::string("constant")}},
          {numbered({1, 2})});
  EXPECT_EQ(block.dims, (Index{2, 3}));
  EXPECT_EQ(block.integer, (std::vector<std::int64_t>{0, 0, 1, 0, 0, 0}));
}

TEST(Linear, MatMulLikeThreeLoops) {
  Rng rng(5, "matmul");
  const std::vector<std::pair<Index, Index>> shapes{
      {{3, 4}, {4, 5}}, {{4}, {4, 2}}, {{3, 4}, {4}}, {{2, 1, 3, 4}, {5, 4, 2}}, {{1, 300}, {300, 3}}};
  for (const auto& [left, right] : shapes) {
    const HostTensor a = random_reals(left, rng), b = random_reals(right, rng);
    const HostTensor result = run(OpKind::matmul, {}, {a, b});
    const std::int64_t m = left.size() == 1 ? 1 : left[left.size() - 2], k = left.back();
    const std::int64_t n = right.size() == 1 ? 1 : right.back();
    const std::size_t batches = result.real.size() / static_cast<std::size_t>(m * n);
    const std::size_t batches_a = a.real.size() / static_cast<std::size_t>(m * k);
    const std::size_t batches_b = b.real.size() / static_cast<std::size_t>(k * n);
    for (std::size_t batch = 0; batch < batches; ++batch)  // of the 2 x 5 batches, a has the 2 and b the 5
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0;
          const std::size_t from_a = batches_a == 1 ? 0 : batch / batches_b, from_b = batch % batches_b;
          for (std::int64_t p = 0; p < k; ++p)
            sum += a.real[from_a * static_cast<std::size_t>(m * k) + static_cast<std::size_t>(i * k + p)] *
                   b.real[from_b * static_cast<std::size_t>(k * n) + static_cast<std::size_t>(p * n + j)];
          EXPECT_EQ(
              result.real[batch * static_cast<std::size_t>(m * n) + static_cast<std::size_t>(i * n + j)],
              sum);
        }
  }
  EXPECT_THROW(run(OpKind::matmul, {}, {reals({2, 2}, {1, 2, 3, 4}), reals({3}, {1, 2, 3})}), GraphError);
}

TEST(Linear, Reductions) {
  const HostTensor x = reals({2, 3}, {1, 5, 3, -1, 0, 7});
  const auto reduced = [&](OpKind kind, Ints axes, std::int64_t keep) {
    return run(kind, {{Attr::axes, std::move(axes)}, {Attr::keepdims, keep}}, {x});
  };
  EXPECT_EQ(reduced(OpKind::reduce_sum, {1}, 0).real, (std::vector<double>{9, 6}));
  EXPECT_EQ(reduced(OpKind::reduce_sum, {0}, 1).dims, (Index{1, 3}));
  EXPECT_EQ(reduced(OpKind::reduce_mean, {0, 1}, 0).real, (std::vector<double>{2.5}));
  EXPECT_EQ(reduced(OpKind::reduce_max, {0}, 0).real, (std::vector<double>{1, 5, 7}));
  EXPECT_EQ(reduced(OpKind::reduce_min, {1}, 1).real, (std::vector<double>{1, -1}));
}

}  // namespace
}
