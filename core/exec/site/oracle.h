#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/graph/evaluate.h"
#include "core/graph/graph.h"

namespace regraft::exec {

/// Values of a graph given from outside: graph inputs, or any inner values where a fragment is run.
using OracleInputs = std::map<graph::Value, graph::HostTensor>;

/// Whether the oracle can run the op. It cannot run inputs, weights (they are values) and opaque nodes.
bool oracle_knows(graph::OpKind kind);

/// Threads that the oracle's operations may use in this process, check_site's too; LibTorch's own default is
/// one a core. On a machine that others use, 1 is faster: LibTorch's threads wait for each other by spinning.
void set_oracle_threads(int threads);

/// Computes `outputs` of a graph in fp64 with LibTorch, from the values in `inputs`. Runs only what the
/// outputs need, and nothing that lies before a given value. Constants are the model's own, folded here in
/// fp64. Casts between floating types round nothing: what is computed is the meaning over the reals. Throws
/// ExecError where an output needs a graph input that is not given, an opaque op, or operands that do not
/// fit.
std::vector<graph::HostTensor> run_oracle(const graph::Graph& graph, std::span<const graph::Value> outputs,
                                          const OracleInputs& inputs);

}  // namespace regraft::exec
