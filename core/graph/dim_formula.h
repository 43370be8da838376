#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace regraft::graph {

/// The value of a symbol of the model, or nothing where there is no symbol of that name.
using SymbolLookup = std::function<std::optional<std::int64_t>(std::string_view)>;

/// Whether the name of a symbol may be a formula over others, as type inference makes them ("(2*n)",
/// "((h+-1)/2+1)"; core/graph/infer_common.cc).
bool is_formula(std::string_view name);

/// The value of a formula. Nothing where the text is no formula but the odd name of a symbol of the model.
/// Throws GraphError for a formula that divides by zero.
std::optional<std::int64_t> evaluate_formula(std::string_view text, const SymbolLookup& lookup);

}
