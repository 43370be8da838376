#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/rng.h"

namespace regraft::rules {

/// Where a generator of examples takes its decisions from: at random, or all of them one after the other.
class Choices {
 public:
  virtual ~Choices() = default;
  /// One of 0 ... bound - 1, for bound > 0.
  virtual std::size_t below(std::size_t bound) = 0;
  /// Yes in one of n cases; an enumeration sees both answers once.
  virtual bool one_in(std::size_t n) = 0;
  /// One of the values; where they repeat, some are more likely, and an enumeration sees each once.
  virtual std::int64_t pick(std::vector<std::int64_t> from) = 0;
};

class RandomChoices final : public Choices {
 public:
  explicit RandomChoices(Rng& rng) : rng_(rng) {}
  std::size_t below(std::size_t bound) override { return static_cast<std::size_t>(rng_.below(bound)); }
  bool one_in(std::size_t n) override { return rng_.below(n) == 0; }
  std::int64_t pick(std::vector<std::int64_t> from) override { return from[below(from.size())]; }

 private:
  Rng& rng_;
};

/// Every sequence of decisions once, in lexicographic order: run the generator, then next(), until it says
/// no.
class EnumeratedChoices final : public Choices {
 public:
  std::size_t below(std::size_t bound) override {
    if (at_ == tape_.size()) tape_.push_back({0, bound});
    return tape_[at_++].digit;
  }
  bool one_in(std::size_t) override { return below(2) == 1; }
  std::int64_t pick(std::vector<std::int64_t> from) override {
    std::sort(from.begin(), from.end());
    from.erase(std::unique(from.begin(), from.end()), from.end());
    return from[below(from.size())];
  }
  /// Goes on to the next sequence. False when all have been seen.
  bool next() {
    at_ = 0;
    while (!tape_.empty() && tape_.back().digit + 1 == tape_.back().bound) tape_.pop_back();
    if (tape_.empty()) return false;
    ++tape_.back().digit;
    return true;
  }

 private:
  struct Decision {
    std::size_t digit, bound;
  };
  std::vector<Decision> tape_;
  std::size_t at_ = 0;
};

}  // namespace regraft::rules
