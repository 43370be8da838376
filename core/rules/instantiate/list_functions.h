#pragma once

// Internal to core/rules: the functions of the rule language on lists.

#include <optional>
#include <span>

#include "core/rules/compile/compiled_rule.h"
#include "core/rules/compile/quantity.h"

namespace regraft::rules {

/// Sizes alone: what is negative would be a symbol among dims.
bool are_dims(const List& list);
/// The place `at` of a list of this size, from the front, or from the back where negative.
std::optional<std::size_t> resolve(const Quantity& at, std::size_t size);
/// The sum, product, largest or smallest element.
Quantity reduce(Function function, const List& list);
/// Functions of one list.
Quantity of_list(Function function, List list);
Quantity range_of(std::span<const Quantity> args);
/// Functions of a list and more: permute, position, remove, set, insert. May take what it is given.
Quantity call_list(Function function, std::span<Quantity> args);

}
