#pragma once

#include <string>

#include "core/graph/op.h"
#include "core/graph/tables.h"

namespace regraft::graph {

// Dims that follow from others. Where one of these is a symbol the result is a symbol named by the formula,
// so that equal formulas give equal symbols (core/graph/dim_formula.h computes them).

/// The symbol of a formula; of one that is too long, a symbol that nothing else names.
Dim derived_dim(Tables& tables, const std::string& formula);
std::string dim_text(const Tables& tables, Dim dim);
/// Throws GraphError where two numbers do not fit each other.
Dim broadcast_dim(Tables& tables, const OpInfo& op, Dim a, Dim b);
/// Multidirectional broadcasting of two shapes.
Dims broadcast(Tables& tables, const OpInfo& op, std::span<const Dim> a, std::span<const Dim> b);
/// Throws GraphError where the sum does not fit 64 bits.
Dim add_dims(Tables& tables, const OpInfo& op, Dim a, Dim b);
/// Product of dims as one dim: a number, a lone symbol, or a derived symbol.
Dim product_dim(Tables& tables, std::span<const Dim> dims);
/// total / parts when it comes out exactly: numbers divide, symbols cancel; else a derived dim, rounded down.
/// Throws GraphError where numbers do not divide.
Dim quotient_dim(Tables& tables, const OpInfo& op, std::span<const Dim> total, std::span<const Dim> parts);
/// Where exporters let a slice end that takes all of a dim.
inline constexpr std::int64_t kPastAnyEnd = 0x7fffffff;
/// How many elements a slice takes, where the dim or a bound is a symbol; a negative number counts from the
/// end.
Dim slice_dim(Tables& tables, Dim dim, Element start, Element end, std::int64_t step);

/// The constant shape by which a Reshape makes `to` of `from` at all sizes, none included: 0 for symbols that
/// stay where they are. Nothing where one moves: a computed 0 copies another dim than -1 would give.
std::optional<Ints> reshape_target(std::span<const Dim> from, std::span<const Dim> to);
/// The same of an Expand: 1 for symbols that stay.
std::optional<Ints> expand_target(std::span<const Dim> from, std::span<const Dim> to);

}
