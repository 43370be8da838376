#pragma once

// Internal to core/rules: what the names of a rule stand for.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/rules/compile/compiled_rule.h"
#include "core/rules/compile/rule_reporter.h"
#include "core/rules/lang/syntax.h"

namespace regraft::rules {

enum class Sort : std::uint8_t { tensor, quantity, op, constant };

struct Symbol {
  Sort sort = Sort::tensor;
  Slot slot;
  Quantity constant;  // a value of a finite set
};

/// The symbol table of one side of a rule. The right side's encloses the left side's names. Slots are given
/// out of the rule's frames. Keeps references to what it is made of.
class RuleScope {
 public:
  RuleScope(CompiledRule& rule, const RuleReporter& reporter) : rule_(rule), reporter_(reporter) {}
  /// The scope within another one: its names hide those of `outer`.
  explicit RuleScope(const RuleScope* outer)
      : rule_(outer->rule_), reporter_(outer->reporter_), outer_(outer) {}

  const RuleReporter& reporter() const { return reporter_; }
  const Symbol* find(const std::string& name) const;
  /// Without the names of the scope outside.
  const Symbol* find_own(const std::string& name) const;
  /// The name of a tensor of this scope.
  std::optional<std::string> name_of(Slot tensor) const;
  [[noreturn]] void unknown_name(const Expr& name, std::string_view expected) const;

  void bind(const std::string& name, Symbol symbol) { names_[name] = std::move(symbol); }
  /// Binds for as long as `use` runs, and hides what had the name.
  void bind_during(const std::string& name, const Symbol& symbol, const auto& use);
  Slot fresh(Sort sort, std::int16_t member_set);
  /// The slot of a name, which it declares when it is new.
  Slot tensor(const std::string& name, bool member, const std::string& member_set, Position at);
  Slot quantity(const Expr& name);
  /// The slot of a tensor that must be known.
  Slot known_tensor(const Expr& name) const;

  /// The number of a set of that name, which becomes one of the rule's.
  std::int16_t member_set_named(const std::string& name);
  /// -1 for a name without '@'.
  std::int16_t member_set_named(bool member, const std::string& name) {
    return member ? member_set_named(name) : std::int16_t{-1};
  }
  /// The set that an expression's member variables belong to, outside of spreads; -1: none. Errors when there
  /// are two.
  std::int16_t member_set_of(const Expr& e);
  bool is_tensor(const Expr& e) const;

 private:
  void add_names(std::vector<std::string_view>& out) const;

  CompiledRule& rule_;
  const RuleReporter& reporter_;
  const RuleScope* outer_ = nullptr;
  std::map<std::string, Symbol> names_;
};

void RuleScope::bind_during(const std::string& name, const Symbol& symbol, const auto& use) {
  const Symbol* held = find_own(name);
  const std::optional<Symbol> hidden = held ? std::optional(*held) : std::nullopt;
  bind(name, symbol);
  use();
  names_.erase(name);
  if (hidden) bind(name, *hidden);
}

}
