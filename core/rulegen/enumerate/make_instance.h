#pragma once

#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/graph/graph_builder.h"
#include "core/rulegen/enumerate/term.h"

namespace regraft::rulegen {

struct InstanceOptions {
  bool own_attributes = false;    // windows and axes as the forms say, else others of the same kind
  bool broadcast = true;          // operands of elementwise ops may have fewer dims, or dims of 1
  int repeated = -1;              // the dim along which alone operands of elementwise ops are repeated
  bool constant_weights = false;  // second operands of products and convolutions are constants, not inputs
};

/// Adds a random small graph that computes `term`: leaves of random shapes (of the given ranks), random
/// strides, paddings, groups and split sizes; forms with equal attributes get equal ones. Its roots become
/// graph outputs. False where the draw fits nowhere: draw again.
bool make_instance(const Term& term, const std::vector<int>& ranks, const std::vector<Form>& forms,
                   const InstanceOptions& options, graph::GraphBuilder& builder, Rng& rng);

/// Shapes and attributes of a graph in one line, for reports: "x0[2,3] x1[3,4]; MatMul; Relu".
std::string describe(const graph::Graph& graph);

}
