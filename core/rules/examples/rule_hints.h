#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/rules/compile/compiled_rule.h"
#include "core/rules/examples/choices.h"

namespace regraft::rules {

/// Ranks that a tensor may have.
struct RankRange {
  std::size_t least = 0, most = 99;
  bool exact() const { return least == most; }
};

/// What a rule's guards say of single variables, for those who make instances of it: const(w), rank(x) == 4,
/// g == 1, [3, 1, 2] for a list. Of 'a or b' one side is chosen.
class RuleHints {
 public:
  struct OfTensor {
    bool constant = false, varies = false, scalar = false;
    bool counts = false;  // holds 0, 1, 2 and so on
    RankRange rank;
    std::optional<double> value;
  };

  RuleHints(const CompiledRule& rule, Choices& choices) : choices_(choices) {
    for (const Step& step : rule.steps) {
      for (const Check& check : step.checks) read(check.code);
    }
  }

  OfTensor tensor(Slot slot) const {
    const auto found = tensors_.find(key(slot));
    return found == tensors_.end() ? OfTensor{} : found->second;
  }
  /// The value that an attribute must have; for a list, perhaps the one of all its elements.
  std::optional<Quantity> attribute(Slot slot) const {
    const auto found = attributes_.find(key(slot));
    return found == attributes_.end() ? std::nullopt : std::optional(found->second);
  }
  /// How many elements a list must have.
  std::optional<std::size_t> length(Slot slot) const {
    const auto found = lengths_.find(key(slot));
    return found == lengths_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The tensor whose dims, except for the last, this one must have.
  std::optional<Slot> model(Slot slot) const {
    const auto found = models_.find(key(slot));
    return found == models_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The elements that a list must begin with.
  graph::Ints elements(Slot slot) const {
    graph::Ints out;
    for (const auto& [at, value] : elements_at(slot)) {
      if (at == std::ssize(out)) out.push_back(value);
    }
    return out;
  }
  /// The elements that a list must have at some places, counted from the front or, below 0, from its end.
  std::map<std::int64_t, std::int64_t> elements_at(Slot slot) const {
    const auto found = elements_.find(key(slot));
    return found == elements_.end() ? std::map<std::int64_t, std::int64_t>{} : found->second;
  }

 private:
  using Key = std::pair<std::int16_t, std::uint16_t>;
  static Key key(Slot slot) { return {slot.member_set, slot.index}; }
  static bool calls(const Code& c, Function function) {
    return c.form == Code::Form::call && c.function == function;
  }

  // dims(x)[:-1]
  static bool all_but_last(const Code& c) {
    return c.form == Code::Form::slice && calls(c.args[0], Function::dims) &&
           c.args[2].form == Code::Form::literal && c.args[2].literal.integer == -1;
  }

  void read(const Code& c) {
    if (calls(c, Function::is_const)) tensors_[key(c.tensors[0])].constant = true;
    if (calls(c, Function::scalar)) tensors_[key(c.tensors[0])].scalar = true;
    if (c.form == Code::Form::negation) {
      if (calls(c.args[0], Function::is_const)) tensors_[key(c.args[0].tensors[0])].varies = true;
      return;
    }
    if (c.form == Code::Form::disjunction) return read(c.args[choices_.below(2)]);
    for (const Code& arg : c.args) read(arg);
    if (c.form == Code::Form::compare && c.symbol == "==" && all_but_last(c.args[0]) &&
        all_but_last(c.args[1])) {
      const Slot left = c.args[0].args[0].tensors[0], right = c.args[1].args[0].tensors[0];
      models_[key(left)] = right;
      models_[key(right)] = left;
    }
    if (c.form == Code::Form::compare && c.symbol == "==" && calls(c.args[0], Function::ints) &&
        calls(c.args[1], Function::range))
      tensors_[key(c.args[0].tensors[0])].counts = true;
    if (c.form == Code::Form::compare && c.args[1].form == Code::Form::literal)
      compared(c.args[0], c.symbol, c.args[1].literal);
  }

  void compared(const Code& left, const std::string& symbol, const Quantity& wanted) {
    if (left.form == Code::Form::variable && symbol == "==") attributes_[key(left.slot)] = wanted;
    if (symbol == "==" && left.form == Code::Form::index && left.args[1].form == Code::Form::literal &&
        left.args[0].form == Code::Form::variable)
      elements_[key(left.args[0].slot)][left.args[1].literal.integer] = wanted.integer;
    if (calls(left, Function::len) && symbol == "==" && left.args[0].form == Code::Form::variable)
      lengths_[key(left.args[0].slot)] = static_cast<std::size_t>(wanted.integer);
    if (left.form != Code::Form::call || left.tensors.empty()) return;
    OfTensor& tensor = tensors_[key(left.tensors[0])];
    if (left.function == Function::rank) limit(tensor.rank, symbol, wanted.integer);
    if (left.function == Function::size && wanted.integer == 1) tensor.scalar = true;
    if (left.function != Function::value) return;
    tensor.constant = tensor.scalar = true;
    const bool real = wanted.kind == Quantity::Kind::real;
    if (symbol == "==") tensor.value = real ? wanted.real : static_cast<double>(wanted.integer);
  }

  static void limit(RankRange& rank, const std::string& symbol, std::int64_t wanted) {
    const auto at = static_cast<std::size_t>(std::max<std::int64_t>(0, wanted));
    if (symbol == "==" || symbol == ">=") rank.least = std::max(rank.least, at);
    if (symbol == ">") rank.least = std::max(rank.least, at + 1);
    if (symbol == "==" || symbol == "<=") rank.most = std::min(rank.most, at);
    if (symbol == "<" && at > 0) rank.most = std::min(rank.most, at - 1);
  }

  Choices& choices_;
  std::map<Key, OfTensor> tensors_;
  std::map<Key, Quantity> attributes_;
  std::map<Key, std::map<std::int64_t, std::int64_t>> elements_;
  std::map<Key, std::size_t> lengths_;
  std::map<Key, Slot> models_;
};

}
