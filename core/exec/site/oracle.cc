#include "core/exec/site/oracle.h"

#include <ATen/Parallel.h>

#include "core/exec/site/fragment.h"
#include "core/exec/torch/torch_ops.h"

namespace regraft::exec {

void set_oracle_threads(int threads) {
  at::set_num_threads(threads);
}

bool oracle_knows(graph::OpKind kind) {
  return torch_row(kind) != nullptr;
}

std::vector<graph::HostTensor> run_oracle(const graph::Graph& graph, std::span<const graph::Value> outputs,
                                          const OracleInputs& inputs) {
  TorchWeights weights(graph.tables());
  Fragment fragment(graph, weights);
  for (const auto& [value, tensor] : inputs) fragment.set(value, to_torch(tensor));
  std::vector<graph::HostTensor> results;
  for (const graph::Value& output : outputs) {
    results.push_back(from_torch(fragment.value(output), graph.type(output).dtype));
  }
  return results;
}

}  // namespace regraft::exec
