#include "learner/optimiser/flat_adam.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/rng.h"

namespace regraft::learner {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr std::int64_t kCount = 5;

/// Algorithm 1 of Kingma and Ba, for one parameter.
struct ScalarAdam {
  double parameter, mean = 0, square = 0;
  int steps = 0;

  void step(double gradient, double rate) {
    ++steps;
    mean = 0.9 * mean + 0.1 * gradient;
    square = 0.999 * square + 0.001 * gradient * gradient;
    const double unbiased = mean / (1 - std::pow(0.9, steps));
    parameter -= rate * unbiased / (std::sqrt(square / (1 - std::pow(0.999, steps))) + 1e-5);
  }
};

class FlatAdamTest : public ::testing::Test {
 protected:
  /// From 1e-6, where epsilon decides, to 1.
  torch::Tensor gradients() {
    torch::Tensor made = torch::empty({kCount});
    for (std::int64_t i = 0; i < kCount; ++i)
      made[i] = rng_.normal() * std::pow(10, -1.5 * static_cast<double>(i));
    return made;
  }
  static replay::Bytes saved(const FlatAdam& adam) {
    replay::Bytes bytes;
    replay::ByteWriter out(bytes);
    adam.write(out);
    return bytes;
  }

  Rng rng_{kSeed, "gradients"};
  torch::Tensor parameters_ = torch::linspace(-1, 1, kCount);
  FlatAdam adam_{parameters_, 0.01};
};

TEST_F(FlatAdamTest, EachParameterGoesAsAScalarOne) {
  std::vector<ScalarAdam> each;
  for (std::int64_t i = 0; i < kCount; ++i) each.push_back({parameters_[i].item<double>()});
  for (int step = 0; step < 20; ++step) {
    const double rate = step < 10 ? 0.01 : 0.1;
    if (step == 10) adam_.set_learning_rate(rate);
    const torch::Tensor slopes = gradients();
    adam_.step(slopes);
    for (std::int64_t i = 0; i < kCount; ++i) {
      ScalarAdam& one = each[static_cast<std::size_t>(i)];
      one.step(slopes[i].item<double>(), rate);
      EXPECT_NEAR(parameters_[i].item<double>(), one.parameter, 1e-5) << i << ", seed " << kSeed;
    }
  }
}

TEST_F(FlatAdamTest, WhatIsRestoredGoesOnBitForBit) {
  for (const int steps : {0, 3}) {
    for (int step = 0; step < steps; ++step) adam_.step(gradients());
    torch::Tensor copy = parameters_.clone();
    FlatAdam other(copy, 0.01);
    other.step(gradients());  // which restoring forgets
    copy.copy_(parameters_);
    const replay::Bytes bytes = saved(adam_);
    replay::ByteReader in(bytes);
    other.restore(other.read(in));
    EXPECT_EQ(saved(other), bytes);
    const torch::Tensor slopes = gradients();
    adam_.step(slopes);
    other.step(slopes);
    EXPECT_TRUE(torch::equal(copy, parameters_)) << "after " << steps << " steps";
  }
}

TEST_F(FlatAdamTest, BytesOfAnotherNetworkAreRefused) {
  adam_.step(gradients());
  const auto refuses = [&](const replay::Bytes& bytes) {
    replay::ByteReader in(bytes);
    try {
      adam_.read(in);
    } catch (const replay::ReplayError&) {
      return true;
    }
    return false;
  };
  torch::Tensor fewer = torch::ones({kCount - 1});
  FlatAdam other(fewer, 0.01);
  other.step(torch::ones({kCount - 1}));
  const replay::Bytes own = saved(adam_);
  EXPECT_FALSE(refuses(own));
  EXPECT_TRUE(refuses(saved(other)));
  EXPECT_TRUE(refuses({own.begin(), own.end() - 1})) << "cut";
  for (const int steps : {0, -1}) {
    replay::Bytes bytes = own;
    std::memcpy(bytes.data(), std::vector<std::int64_t>{steps}.data(), sizeof(std::int64_t));
    EXPECT_TRUE(refuses(bytes)) << steps << " steps with moments";
  }
}

}  // namespace
}
