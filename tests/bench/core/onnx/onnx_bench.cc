// Import and export of real models. Bytes are those of the file; writing includes making it durable.
#include <benchmark/benchmark.h>

#include "core/base/file.h"
#include "core/graph/constants.h"
#include "core/graph/evaluate.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "tests/support/models.h"

namespace regraft::onnx {
namespace {

void import_only(benchmark::State& bench, const char* name) {
  const auto path = regraft::testing::unpacked_model(name);
  for (auto _ : bench) benchmark::DoNotOptimize(import_model(path).graph().live_count());
  bench.SetBytesProcessed(bench.iterations() * static_cast<std::int64_t>(std::filesystem::file_size(path)));
}
BENCHMARK_CAPTURE(import_only, bert, "bert_base")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(import_only, vit, "vit_b_16")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(import_only, nasrnn, "nasrnn")->Unit(benchmark::kMillisecond);

void import_and_export(benchmark::State& bench, const char* name) {
  const auto path = regraft::testing::unpacked_model(name);
  const TempDir folder;
  for (auto _ : bench) {
    const ImportedModel model = import_model(path);
    export_model(model, model.graph(), folder.path() / "out.onnx");
  }
  bench.SetBytesProcessed(bench.iterations() * static_cast<std::int64_t>(std::filesystem::file_size(path)));
}
BENCHMARK_CAPTURE(import_and_export, bert, "bert_base")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(import_and_export, nasrnn, "nasrnn")->Unit(benchmark::kMillisecond);

/// A transposed copy of a float32 matrix of the given side, as folding makes it.
void fold_transpose(benchmark::State& bench) {
  graph::Tables tables;
  const graph::Dim dims[] = {bench.range(0), bench.range(0)};
  const std::vector<float> values(static_cast<std::size_t>(bench.range(0) * bench.range(0)), 1.5f);
  const auto weight = tables.weights().source(tables.intern(graph::DType::float32, dims),
                                              std::as_bytes(std::span(values)), 0);
  const graph::AttrBlock attrs{{graph::Attr::perm, graph::Ints{1, 0}}};
  const auto turned = graph::constant_operation(tables, graph::OpKind::transpose, tables.intern(attrs),
                                                std::span(&weight, 1));
  for (auto _ : bench) benchmark::DoNotOptimize(graph::evaluate_bytes(tables, turned).data());
  bench.SetBytesProcessed(bench.iterations() * static_cast<std::int64_t>(values.size() * sizeof(float)));
}
BENCHMARK(fold_transpose)->Arg(1024)->Arg(5120)->Unit(benchmark::kMillisecond);

}  // namespace
}
