#pragma once

// Internal to core/rules: remembers which matches are legal.

#include <cstdint>
#include <vector>

#include "core/rules/instantiate/bindings.h"
#include "core/rules/instantiate/operation_memo.h"

namespace regraft::rules {

/// Whether matches are legal, cycles apart. The key is what decides it: the rule, the matched operations, the
/// types and weights of bound values, which of them are the same, and which operand of two comes first. Equal
/// places in a graph, and the same place later, are checked once. It holds a bounded number of answers; a new
/// one replaces an old one of the same slot. It begins with few slots, since small graphs ask little. For
/// rules that are decided by what is bound (CompiledRule). One thread.
class LegalMemo {
 public:
  static constexpr std::size_t kFewestSlots = 64, kMostSlots = std::size_t{1} << 16;

  LegalMemo() : slots_(kFewestSlots) {}

  /// What is remembered while the answers are found.
  OperationMemo& operations() { return operations_; }

  /// Starts the description of a match of a rule.
  void begin(std::uint32_t rule);
  /// Adds how many members a set has, before their frames.
  void add_count(std::size_t members) { add(members, 0); }
  /// Adds the left values and the nodes of one frame.
  void add(const graph::Graph& graph, const Frame& frame);
  /// The answer of check() for such a match, asked once.
  template <typename Check>
  bool legal(Check&& check) {
    const Hash128 key = key_;
    Slot& slot = slot_of(key);
    if (slot.state != State::empty && slot.key == key) return slot.state == State::legal;
    const State before = slot.state;
    slot = {key, check() ? State::legal : State::illegal};
    const bool is_legal = slot.state == State::legal;
    if (before == State::empty) note_filled();
    return is_legal;
  }

 private:
  enum class State : std::uint8_t { empty, legal, illegal };
  struct Slot {
    Hash128 key;
    State state = State::empty;
  };

  Slot& slot_of(const Hash128& key) { return slots_[key.low & (slots_.size() - 1)]; }
  /// Twice the slots once a quarter of them is filled.
  void note_filled();
  void add(std::uint64_t one, std::uint64_t other) { key_ = chained(key_, {one, other}); }
  /// In order of appearance.
  std::uint64_t number_of(graph::Value value);

  OperationMemo operations_;
  Hash128 key_;                       // of what was described so far
  std::vector<graph::Value> values_;  // by number
  std::vector<Slot> slots_;
  std::size_t filled_ = 0;
};

}
