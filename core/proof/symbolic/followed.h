#pragma once

#include "core/graph/op.h"

namespace regraft::proof {

/// How the prover takes an operation: by what it computes; as a function of its elements of which nothing is
/// known but that equal arguments give equal values; or not at all, so that its rules stay without a proof.
enum class Followed { by_definition, as_function, not_at_all };

Followed followed(graph::OpKind kind);

}  // namespace regraft::proof
