#pragma once

#include "core/graph/op.h"

namespace regraft::proof {

/// How the prover takes an operation: by what it computes, as a function of its elements, or not at all. Of
/// such a function only this is known: equal arguments give equal values. In the last case its rules stay
/// without a proof.
enum class Followed { by_definition, as_function, not_at_all };

Followed followed(graph::OpKind kind);

}  // namespace regraft::proof
