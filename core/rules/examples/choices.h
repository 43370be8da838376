#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/base/hash.h"
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
  /// One of 0 ... bound - 1 where an enumeration would grow too large if it went through them: it sees one,
  /// which follows from the decisions before, so that they are all seen many times over the whole.
  virtual std::size_t drawn(std::size_t bound) = 0;
};

class RandomChoices final : public Choices {
 public:
  explicit RandomChoices(Rng& rng) : rng_(rng) {}
  std::size_t below(std::size_t bound) override { return static_cast<std::size_t>(rng_.below(bound)); }
  bool one_in(std::size_t n) override { return rng_.below(n) == 0; }
  std::int64_t pick(std::vector<std::int64_t> from) override { return from[below(from.size())]; }
  std::size_t drawn(std::size_t bound) override { return below(bound); }

 private:
  Rng& rng_;
};

/// One of the values, each as likely.
inline std::int64_t pick_distinct(Choices& choices, std::vector<std::int64_t> from) {
  std::sort(from.begin(), from.end());
  from.erase(std::unique(from.begin(), from.end()), from.end());
  return from[choices.below(from.size())];
}

/// Random sequences of the decisions of an enumeration. Each gives the size that the whole would have if all
/// of it branched like this one. The mean of these is the size (Knuth 1975).
class ProbingChoices final : public Choices {
 public:
  explicit ProbingChoices(Rng& rng) : rng_(rng) {}
  std::size_t below(std::size_t bound) override {
    size_ *= static_cast<double>(bound);
    return static_cast<std::size_t>(rng_.below(bound));
  }
  bool one_in(std::size_t) override { return below(2) == 1; }
  std::int64_t pick(std::vector<std::int64_t> from) override { return pick_distinct(*this, std::move(from)); }
  std::size_t drawn(std::size_t bound) override { return static_cast<std::size_t>(rng_.below(bound)); }
  double size() const { return size_; }

 private:
  Rng& rng_;
  double size_ = 1;
};

/// Every sequence of decisions once, in lexicographic order: run the generator, then next(), until it says
/// no.
class EnumeratedChoices final : public Choices {
 public:
  /// Other draws for another `seed`; the decisions are the same.
  explicit EnumeratedChoices(std::uint64_t seed = 0) : seed_(seed) {}

  std::size_t below(std::size_t bound) override {
    if (at_ == tape_.size()) tape_.push_back({0, bound});
    if (tape_[at_].bound != bound) throw std::out_of_range("the decisions are not those of the run before");
    return tape_[at_++].digit;
  }
  bool one_in(std::size_t) override { return below(2) == 1; }
  std::int64_t pick(std::vector<std::int64_t> from) override { return pick_distinct(*this, std::move(from)); }
  std::size_t drawn(std::size_t bound) override {
    Hasher hasher(++draws_ + (seed_ << 32U));
    for (std::size_t i = 0; i < at_; ++i) hasher.add(tape_[i].digit);
    return static_cast<std::size_t>(hasher.finish().low % bound);
  }
  /// Goes on to the next sequence. False when all have been seen.
  bool next() {
    at_ = draws_ = 0;
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
  std::uint64_t seed_;
  std::size_t at_ = 0, draws_ = 0;
};

}
