#pragma once

// Internal to core/rulegen: from classes of equal graphs to rules that do not follow from each other.

#include <atomic>
#include <functional>

#include "core/base/thread_pool.h"
#include "core/rulegen/enumerate/check_examples.h"
#include "core/rulegen/enumerate/chunk_store.h"
#include "core/rulegen/enumerate/generation.h"
#include "core/rulegen/enumerate/linker.h"

namespace regraft::rulegen {

/// Goes over the classes depth by depth, those of few and general graphs first. Graphs that rules found so
/// far lead to each other are linked. Where a class still falls apart, its simplest graphs make a candidate.
/// Parts that both sides share become leaves, examples on other shapes are tried, and what survives is a
/// rule. The order, and so the rules, do not depend on the number of threads.
class Pruner {
 public:
  /// `is_over` is asked between classes, pairs and rules, by any thread.
  Pruner(const OpTable& table, const PointEvaluator& evaluator, const GenerateOptions& options,
         std::function<bool()> is_over, ThreadPool& threads);

  /// No rules where the time was over.
  void run(const GraphClasses& classes, Generation& out,
           const std::function<void(const std::string&)>& progress);
  bool whole() const { return !over_; }

 private:
  using Members = std::span<const GraphCode>;

  struct Pair {  // accepted
    GraphCode a, b;
    std::vector<PointValue> more;  // leaves beyond the table's
    std::size_t depth = 0;
  };

  /// A class while it is worked on: its members so far, and which of them rules link.
  struct Open {
    std::vector<GraphCode> members;
    std::vector<std::size_t> group;  // of each member
    std::size_t components = 0;
    std::size_t rules = 0;  // of the linker, tried already
  };

  /// Remembers that it was.
  bool over();
  Open open_class(Members members, std::size_t depth) const;
  void join(Open& open, const GraphCode& a, const GraphCode& b) const;
  void link(Open& open) const;
  void resolve(Open& open, std::size_t depth);
  bool propose(const GraphCode& a, const GraphCode& b, std::size_t depth);
  void accept(const GraphCode& a, const GraphCode& b, std::vector<PointValue> more, std::size_t depth);
  std::vector<PointValue> generalise(GraphCode& a, GraphCode& b) const;
  bool holds_generally(const GraphCode& a, const GraphCode& b, std::span<const PointValue> more) const;
  bool holds_on_other_shapes(const GraphCode& a, const GraphCode& b) const;
  std::vector<std::size_t> in_order(const std::vector<Open>& classes) const;
  std::vector<std::int8_t> aligned_roots(const GraphCode& a, const GraphCode& b,
                                         std::span<const PointValue> more) const;
  bool follows(std::size_t pair) const;
  TermRule terms_of(const Pair& pair) const;
  void write(Generation& out);

  const OpTable& table_;
  const PointEvaluator& evaluator_;
  const GenerateOptions& options_;
  std::function<bool()> is_over_;
  std::atomic<bool> over_ = false;
  ThreadPool& threads_;
  std::vector<OpTable> other_tables_;
  std::vector<PointEvaluator> others_;
  Linker linker_;
  std::vector<Pair> pairs_;  // the linker holds two rules for each, or one where a side is a leaf
  std::vector<std::size_t> pair_of_rule_;
  std::vector<bool> dropped_;
};

}
