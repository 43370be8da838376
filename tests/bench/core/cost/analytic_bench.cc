#include <benchmark/benchmark.h>

#include "core/cost/net.h"

namespace regraft::cost {
namespace {

using testing::Net;
using testing::OpKind;
using testing::Value;

// `layers` of a transformer's MLP: 11 operations each.
void build(Net& net, std::int64_t layers) {
  Value x = net.input({1, 197, 768});
  for (std::int64_t i = 0; i < layers; ++i) {
    const Value hidden = net.gelu(net.linear(net.layer_norm(x), 3072), Net::GeluForm::outer_half);
    x = net.op(OpKind::add, {x, net.linear(hidden, 768)});
  }
  net.output(x);
}

void BM_FreshCost(benchmark::State& state) {
  Net net;
  build(net, state.range(0));
  const graph::Bindings bindings;
  for (auto _ : state)
    benchmark::DoNotOptimize(AnalyticCost(testing::test_device(), bindings, net.graph).cost());
  state.SetLabel(std::to_string(net.graph.operation_count()) + " operations");
}
BENCHMARK(BM_FreshCost)->Arg(10)->Arg(100);

// One node put in, costed, and undone.
void BM_EditAndCost(benchmark::State& state) {
  Net net;
  build(net, state.range(0));
  net.graph.commit();
  const graph::Bindings bindings;
  AnalyticCost model(testing::test_device(), bindings, net.graph);
  const Value output = net.graph.outputs()[0];
  for (auto _ : state) {
    const auto mark = net.graph.mark();
    const Value made = net.op(OpKind::relu, {output});
    net.graph.set_output(0, made);
    const auto touched = net.graph.touched_since(mark);
    model.update(touched);
    benchmark::DoNotOptimize(model.cost());
    net.graph.undo_to(mark);
    model.update(touched);
  }
  state.SetLabel(std::to_string(net.graph.operation_count()) + " operations");
}
BENCHMARK(BM_EditAndCost)->Arg(10)->Arg(100);

}  // namespace
}
