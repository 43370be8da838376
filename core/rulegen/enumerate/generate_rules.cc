#include "core/rulegen/enumerate/generate_rules.h"

#include <atomic>
#include <chrono>

#include "core/base/thread_pool.h"
#include "core/rulegen/enumerate/chunk_store.h"
#include "core/rulegen/enumerate/pruner.h"

namespace regraft::rulegen {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMiB = std::size_t{1} << 20;
// Memory while classes are pruned: a graph has a copy and its group; a class has what holds them.
constexpr std::size_t kOpenMemberBytes = sizeof(GraphCode) + sizeof(std::size_t), kOpenClassBytes = 96;

double steady_seconds() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

std::string out_of_memory(const GenerateOptions& options, const std::string& where) {
  return "the memory of " + std::to_string(options.memory_bytes / kMiB) + " MB does not suffice for " +
         where + ": give more, fewer ops or a lower depth, or fewer threads, which share it";
}

// What the classes take, and what pruning them will.
std::size_t bytes_of(const GraphClasses& classes) {
  return classes.members.capacity() * sizeof(GraphCode) + classes.begins.capacity() * sizeof(std::size_t) +
         classes.members.size() * kOpenMemberBytes + classes.size() * kOpenClassBytes;
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
    throw RulegenError("a depth of " + std::to_string(options.depth), "generate", "give 1 to 5");
  if (options.threads < 1) throw RulegenError("no threads", "generate", "give at least one");
}

/// The limit of time of one generation.
class TimeLimit {
 public:
  explicit TimeLimit(const GenerateOptions& options)
      : now_(options.clock ? options.clock : std::function<double()>(steady_seconds)),
        seconds_(options.seconds),
        begin_(now_()) {}

  double passed() const { return now_() - begin_; }
  bool is_over() const { return seconds_ > 0 && passed() > seconds_; }

 private:
  std::function<double()> now_;
  double seconds_, begin_;
};

// Runs the units that are not done, until a limit is met.
void enumerate(const GenerateOptions& options, const OpTable& table, const PointEvaluator& evaluator,
               const ChunkStore& store, const TimeLimit& time, ThreadPool& threads, Generation& out,
               const std::function<void(const std::string&)>& progress) {
  const EnumerateLimits limits{options.memory_bytes / options.threads, [&] { return time.is_over(); }};
  out.units = Enumerator(table, evaluator, options.depth, limits).units();
  std::vector<std::size_t> missing;
  for (std::size_t unit = 0; unit < out.units; ++unit)
    if (!store.has(unit)) missing.push_back(unit);
  out.units_found = out.units - missing.size();
  std::atomic<std::size_t> done = out.units_found, too_large = 0;
  threads.parallel_for(missing.size(), [&](std::size_t i) {
    if (time.is_over()) return;
    Enumerator enumerator(table, evaluator, options.depth, limits);
    const auto records = enumerator.run(missing[i], store.part_of_unit(missing[i]));
    if (records) {
      store.write(missing[i], *records);
      ++done;
    } else if (enumerator.end() == Enumerator::End::memory) {
      ++too_large;
    } else {
      store.write_part(missing[i], enumerator.part());
    }
  });
  out.units_done = done;
  out.enumerate_seconds = time.passed();
  const std::string so_far = std::to_string(done) + " of " + std::to_string(out.units) + " units";
  progress("enumerated " + so_far + " (" + std::to_string(out.units_found) + " from before)");
  if (too_large > 0) {
    out.stopped =
        out_of_memory(options, std::to_string(too_large) + " of the units") + "; " + so_far + " are done";
  } else if (out.units_done < out.units) {
    out.stopped = "the time was over after " + so_far + ", and parts of others: the same goes on from there";
  }
}

// Sorts what was enumerated into classes, part by part, as far as the memory goes.
void collect(const GenerateOptions& options, const OpTable& table, const ChunkStore& store, Generation& out,
             GraphClasses& classes) {
  const std::vector<MappedFile> files = store.open_all(out.units);
  for (std::size_t part = 0; part < ChunkStore::kParts; ++part) {
    const std::size_t held = ChunkStore::part_bytes(files, part) + bytes_of(classes);
    if (held > options.memory_bytes) {
      out.stopped = out_of_memory(options, "the classes of equal graphs") + "; all units are done";
      return;
    }
    const std::vector<GraphRecord> records = ChunkStore::read_part(files, part);
    out.graphs += records.size();
    add_classes(records, table, classes);
  }
  if (bytes_of(classes) > options.memory_bytes)
    out.stopped = out_of_memory(options, "the classes of equal graphs") + "; all units are done";
}

}  // namespace

Generation generate_rules(const GenerateOptions& options,
                          const std::function<void(const std::string&)>& progress) {
  check(options);
  const OpTable table = op_table(options.ops);
  const PointEvaluator evaluator(table, options.seed);
  const ChunkStore store(options.folder, hash_of(options));
  ThreadPool threads(options.threads - 1);
  Generation out;
  const TimeLimit time(options);
  enumerate(options, table, evaluator, store, time, threads, out, progress);
  if (!out.complete()) return out;
  const double begin = steady_seconds();
  GraphClasses classes;
  collect(options, table, store, out, classes);
  if (!out.complete()) return out;
  out.classes = classes.size();
  out.members = classes.members.size();
  progress(std::to_string(out.graphs) + " graphs, " + std::to_string(out.classes) + " classes of equal ones");
  Pruner pruner(
      table, evaluator, options, [&] { return time.is_over(); }, threads);
  pruner.run(classes, out, progress);
  out.prune_seconds = steady_seconds() - begin;
  if (!pruner.whole()) {
    out.stopped = "the time was over after " + std::to_string(out.units_done) + " of " +
                  std::to_string(out.units) +
                  " units, while rules were chosen among what they gave: that is " +
                  "done at once, so give more, or no limit; all units stay done";
  }
  return out;
}

}
