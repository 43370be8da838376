#pragma once

#include "core/graph/op.h"

namespace regraft::proof {

/// How the prover interprets an operation: by its definition, as an uninterpreted function of its elements
/// (equal arguments give equal values; nothing else is known), or not at all. Rules with an unsupported one
/// stay without a proof.
enum class Interpretation { defined, uninterpreted, unsupported };

Interpretation interpretation(graph::OpKind kind);

}
