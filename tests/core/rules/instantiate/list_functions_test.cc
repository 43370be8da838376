#include "core/rules/instantiate/list_functions.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace regraft::rules {
namespace {

Quantity number(std::int64_t value) {
  return Quantity::of(value);
}

Quantity list(const List& items) {
  return Quantity::of(items);
}

template <typename... Args>
Quantity call(Function function, Args... args) {
  std::array<Quantity, sizeof...(Args)> all{std::move(args)...};
  return call_list(function, all);
}

TEST(ListFunctions, APlaceMayCountFromTheBack) {
  EXPECT_EQ(resolve(number(-1), 3), 2u);
  EXPECT_EQ(resolve(number(0), 3), 0u);
  for (const std::int64_t past : {3, -4}) EXPECT_FALSE(resolve(number(past), 3)) << past;
  EXPECT_FALSE(resolve(Quantity::of(1.0), 3)) << "no integer";
}

TEST(ListFunctions, SymbolsAmongNumbersHaveNoSum) {
  const std::int64_t symbol = encode_dim(graph::symbol_dim(graph::SymbolId{0}));
  EXPECT_TRUE(reduce(Function::sum, {2, 3}).equals(number(5)));
  EXPECT_TRUE(reduce(Function::prod, {}).equals(number(1)));
  EXPECT_TRUE(reduce(Function::min, {2, -3}).equals(number(-3)));
  EXPECT_FALSE(reduce(Function::max, {}).known());
  EXPECT_TRUE(reduce(Function::prod, {symbol}).equals(number(symbol)));
  EXPECT_FALSE(reduce(Function::prod, {symbol, 2}).known());
  EXPECT_FALSE(reduce(Function::prod, {std::numeric_limits<std::int64_t>::max(), 2}).known());
  EXPECT_FALSE(are_dims({2, symbol}));
}

TEST(ListFunctions, OnlyPermutationsAreInverted) {
  EXPECT_TRUE(of_list(Function::invert, {2, 0, 1}).equals(list({1, 2, 0})));
  EXPECT_TRUE(of_list(Function::permutation, {2, 0, 1}).truth());
  for (const List& other : {List{0, 0}, List{1, 2}, List{-1, 0}}) {
    EXPECT_FALSE(of_list(Function::permutation, other).truth());
    EXPECT_FALSE(of_list(Function::invert, other).known());
  }
  EXPECT_TRUE(of_list(Function::reverse, {1, 2, 3}).equals(list({3, 2, 1})));
  EXPECT_TRUE(of_list(Function::len, {1, 2, 3}).equals(number(3)));
}

TEST(ListFunctions, ARangeIsBounded) {
  const auto range = [](std::vector<Quantity> args) { return range_of(args); };
  EXPECT_TRUE(range({number(3)}).equals(list({0, 1, 2})));
  EXPECT_TRUE(range({number(-1), number(2)}).equals(list({-1, 0, 1})));
  EXPECT_EQ(range({number(2), number(2)}).list.size(), 0u);
  EXPECT_FALSE(range({number(2), number(1)}).known());
  EXPECT_FALSE(range({number(0), number(70'000)}).known());
  EXPECT_FALSE(range({number(std::numeric_limits<std::int64_t>::min()),
                      number(std::numeric_limits<std::int64_t>::max())})
                   .known());
  EXPECT_FALSE(range({Quantity::of(2.0)}).known());
}

TEST(ListFunctions, WhatIsOutOfRangeHasNoValue) {
  const Quantity abc = list({7, 8, 9});
  EXPECT_TRUE(call(Function::permute, abc, list({2, 0})).equals(list({9, 7})));
  EXPECT_FALSE(call(Function::permute, abc, list({3})).known());
  EXPECT_TRUE(call(Function::position, abc, number(8)).equals(number(1)));
  EXPECT_FALSE(call(Function::position, abc, number(1)).known());
  EXPECT_TRUE(call(Function::remove, abc, number(-1)).equals(list({7, 8})));
  EXPECT_TRUE(call(Function::set, abc, number(0), number(1)).equals(list({1, 8, 9})));
  EXPECT_TRUE(call(Function::insert, abc, number(3), number(1)).equals(list({7, 8, 9, 1})));
  EXPECT_FALSE(call(Function::insert, abc, number(4), number(1)).known());
  EXPECT_FALSE(call(Function::set, abc, number(0), Quantity::of(1.0)).known());
  EXPECT_FALSE(call(Function::remove, abc, number(3)).known());
}

}  // namespace
}
