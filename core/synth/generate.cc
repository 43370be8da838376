#include "core/synth/generate.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "core/base/thread_pool.h"
#include "core/synth/generate_prune.h"
#include "core/synth/generate_store.h"

namespace regraft::synth {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMemoBytes = 128;  // of one remembered result, with what the table needs around it

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// What decides the records: of everything else (threads, memory, time) they are independent.
Hash128 hash_of(const GenerateOptions& options) {
  std::string text =
      "generator 1; depth " + std::to_string(options.depth) + "; seed " + std::to_string(options.seed);
  for (const std::string& op : options.ops) text += "; " + op;
  return hash_text(text);
}

void check(const GenerateOptions& options) {
  if (options.depth < 1 || options.depth > kMostDepth)
    throw SynthError("a depth of " + std::to_string(options.depth), "generate", "give 1 to 5");
  if (options.threads < 1) throw SynthError("no threads", "generate", "give at least one");
}

// Runs the units that are not done, until the time is over.
void enumerate(const GenerateOptions& options, const OpTable& table, const PointEvaluator& evaluator,
               const ChunkStore& store, ThreadPool& threads, Generation& out,
               const std::function<void(const std::string&)>& progress) {
  const auto begin = Clock::now();
  const std::size_t memo = options.memory_bytes / options.threads / kMemoBytes;
  out.units = Enumerator(table, evaluator, options.depth, memo).units();
  std::vector<std::size_t> missing;
  for (std::size_t unit = 0; unit < out.units; ++unit)
    if (!store.has(unit)) missing.push_back(unit);
  out.units_found = out.units - missing.size();
  std::atomic<std::size_t> done = out.units_found;
  threads.parallel_for(missing.size(), [&](std::size_t i) {
    if (options.seconds > 0 && seconds_since(begin) > options.seconds) return;
    Enumerator enumerator(table, evaluator, options.depth, memo);
    store.write(missing[i], enumerator.run(missing[i]));
    ++done;
  });
  out.units_done = done;
  out.enumerate_seconds = seconds_since(begin);
  progress("enumerated " + std::to_string(out.units_done) + " of " + std::to_string(out.units) + " units (" +
           std::to_string(out.units_found) + " from before)");
}

}  // namespace

std::size_t Generation::line_count() const {
  std::size_t count = 0;
  for (const GeneratedRule& rule : rules) count += rule.lines.size();
  return count;
}

std::string Generation::rules_text() const {
  std::string out =
      "# Made by regraft rules generate: equal on exact examples of many shapes, not "
      "proved.\n\n[generated]\n";
  for (std::size_t i = 0; i < rules.size(); ++i) {
    for (std::size_t way = 0; way < rules[i].lines.size(); ++way)
      out += "gen-" + std::to_string(i) + (way > 0 ? "-back" : "") + ": " + rules[i].lines[way] + "\n";
  }
  return out;
}

Generation generate_rules(const GenerateOptions& options,
                          const std::function<void(const std::string&)>& progress) {
  check(options);
  const OpTable table = op_table(options.ops);
  const PointEvaluator evaluator(table, options.seed);
  const ChunkStore store(options.folder, hash_of(options));
  ThreadPool threads(options.threads - 1);
  Generation out;
  enumerate(options, table, evaluator, store, threads, out, progress);
  if (!out.complete()) return out;
  const auto begin = Clock::now();
  GraphClasses classes;
  const std::vector<MappedFile> files = store.open_all(out.units);
  for (std::size_t part = 0; part < ChunkStore::kParts; ++part) {
    const std::vector<GraphRecord> records = ChunkStore::read_part(files, part);
    out.graphs += records.size();
    add_classes(records, table, classes);
  }
  out.classes = classes.size();
  out.members = classes.members.size();
  progress(std::to_string(out.graphs) + " graphs, " + std::to_string(out.classes) + " classes of equal ones");
  Pruner(table, evaluator, options, threads).run(classes, out, progress);
  out.prune_seconds = seconds_since(begin);
  return out;
}

}  // namespace regraft::synth
