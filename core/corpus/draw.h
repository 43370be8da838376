#pragma once

#include <initializer_list>

#include "core/base/rng.h"

namespace regraft::corpus {

/// Choices by seed.
class Draw {
 public:
  Draw(std::uint64_t seed, std::string_view name) : rng_(seed, name) {}

  template <typename T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[rng_.below(choices.size())];
  }
  bool chance(double probability) { return rng_.uniform() < probability; }

 private:
  Rng rng_;
};

}
