#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/exec/inputs/input_meaning.h"
#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// Where a model's inputs come from. Implementations are stateless: all randomness is in the stream given.
class InputSource {
 public:
  virtual ~InputSource() = default;
  /// One tensor for each input, in order. Throws ExecError for a dtype it cannot fill.
  virtual std::vector<Tensor> draw(std::span<const ValueInfo> inputs, const SymbolSizes& sizes,
                                   Rng& rng) const = 0;
  /// The sizes of all symbols where the source has but one; empty where it can draw at any.
  virtual SymbolSizes sizes(std::span<const ValueInfo>) const { return {}; }
  /// Whether every draw gives the same.
  virtual bool is_fixed() const { return false; }
  /// What its draws leave untried, in a sentence; empty where that is nothing of note.
  virtual std::string note() const { return ""; }
  /// The same, but floats of which nothing is known lie between 0 and 1.
  virtual std::unique_ptr<InputSource> positive() const { return nullptr; }
  /// The same, but integers that the model compares with numbers are none of these. Nothing where it has
  /// none.
  virtual std::unique_ptr<InputSource> unchosen() const { return nullptr; }
};

/// Draws each input as its meaning says. Without a meaning, floats are standard normal and booleans are fair
/// coins. Integers of 8 bits or less cover their type, others are 0 to 7. Sequences have three items. An
/// input without a meaning whose name contains "mask" is a mask: along the last axis k ones, then zeros. k >=
/// 1 is drawn for each row.
class RandomInputs : public InputSource {
 public:
  /// `constant`: all integers and booleans are this number, whatever they mean.
  explicit RandomInputs(InputMeanings meanings = {}, std::optional<std::int64_t> constant = {})
      : meanings_(std::move(meanings)), constant_(constant) {}
  std::vector<Tensor> draw(std::span<const ValueInfo> inputs, const SymbolSizes& sizes,
                           Rng& rng) const override;
  std::string note() const override;
  std::unique_ptr<InputSource> positive() const override;
  std::unique_ptr<InputSource> unchosen() const override;

 private:
  Tensor draw_one(const ValueInfo& info, const SymbolSizes& sizes, Rng& rng) const;
  Tensor draw_floats(const ValueInfo& info, const InputMeaning& meaning, Tensor tensor,
                     const SymbolSizes& sizes, Rng& rng) const;

  InputMeanings meanings_;
  std::optional<std::int64_t> constant_;
  bool positive_ = false;
};

}
