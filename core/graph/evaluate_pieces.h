#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "core/graph/tables.h"

namespace regraft::graph {

/// Elements folded at a time; what is smaller is folded whole.
inline constexpr std::size_t kPieceElements = std::size_t{1} << 20;

/// The bytes of evaluate_bytes(tables, weight), in pieces one after the other. Elementwise operations on
/// large constants are folded piece by piece. So scaling a weight takes the memory of one piece, not eight
/// times its own.
void evaluate_in_pieces(const Tables& tables, WeightId weight,
                        const std::function<void(std::span<const std::byte>)>& write,
                        std::size_t piece_elements = kPieceElements);

}
