#pragma once

// Internal to core/graph: how inference refuses sizes.

#include <string>

#include "core/graph/op.h"

namespace regraft::graph {

/// Throws GraphError that names the op.
[[noreturn]] void fail(const OpInfo& op, const std::string& problem);

/// For sums and products of sizes of which it is not known that they fit.
using Wide = __int128;
/// A size that was computed so. Throws GraphError where it does not fit 64 bits.
std::int64_t narrow(const OpInfo& op, Wide size);

}
