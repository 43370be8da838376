#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>

#include "core/corpus/corpus.h"

namespace regraft::corpus {
namespace {

/// Seeds 0 to 19 of a family, one after the other; also the most processor time of one.
void make(benchmark::State& bench, const std::string& family) {
  std::uint64_t seed = 0;
  std::size_t bytes = 0;
  double longest_cpu_ms = 0;
  for (auto _ : bench) {
    const std::clock_t start = std::clock();
    bytes += make_model("corpus:" + family + ":" + std::to_string(seed++ % 20)).size();
    longest_cpu_ms =
        std::max(longest_cpu_ms, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  bench.counters["longest_cpu_ms"] = longest_cpu_ms;
  bench.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

const bool registered = [] {
  for (const FamilyInfo& family : families())
    benchmark::RegisterBenchmark(("make_model/" + std::string(family.name)).c_str(), make,
                                 std::string(family.name))
        ->Iterations(20)
        ->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
}
