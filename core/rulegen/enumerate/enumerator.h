#pragma once

// Internal to core/rulegen: all graphs up to a depth, with fingerprints of what they compute.

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/rulegen/enumerate/graph_code.h"
#include "core/rulegen/enumerate/point_evaluator.h"

namespace regraft::rulegen {

struct GraphRecord {
  Hash128 print;  // of the set of its roots' values
  GraphCode code;

  auto operator<=>(const GraphRecord&) const = default;
};

/// What one enumerator may take.
struct EnumerateLimits {
  std::size_t bytes = std::size_t{1} << 30;  // of graphs found and results remembered
  std::function<bool()> is_over = {};        // asked every few graphs; may be empty
};

/// What was done of a unit when its time was over.
struct UnitPart {
  std::vector<GraphRecord> records;  // sorted, each once
  std::vector<std::uint32_t>
      way;  // numbers of the choices of the second node, the third...: all before are done
};

/// Enumerates the graphs that begin with one node (a work unit): connected ones with at most two roots, each
/// in (almost always) one order of its nodes. A graph in which a node computes what is there already is not
/// grown further. One thread uses one enumerator. Units give the same records whoever runs them, within
/// whatever limits and in however many parts. Where memory does not suffice a unit gives nothing; where time
/// does not, a part, from which another run goes on.
class Enumerator {
 public:
  enum class End : std::uint8_t { whole, time, memory };

  Enumerator(const OpTable& table, const PointEvaluator& evaluator, std::size_t depth,
             EnumerateLimits limits);

  std::size_t units() const { return first_.size(); }
  /// Graphs of unit `unit`, sorted, each once, those of the part that is there already among them. Unit 0 has
  /// the bare leaves too. Nothing where a limit ended it.
  std::optional<std::vector<GraphRecord>> run(std::size_t unit, UnitPart part = {});
  /// What ended the last run.
  End end() const { return end_; }
  /// What it did, once, where time ended it: more than it began with.
  UnitPart part();
  /// How many results may be remembered in the memory that the records leave.
  std::size_t most_memo() const;

 private:
  struct Choice {
    std::uint8_t form;
    std::array<std::int8_t, 2> inputs;
  };

  std::vector<Choice> choices() const;
  bool in_order(const Choice& choice) const;
  const PointValue& value(std::int8_t input) const;
  void grow(const Choice& choice);
  void grow_further();
  void grow_last(const Choice& choice);
  bool record(std::span<const Hash128> outputs);
  void keep(const GraphRecord& found);
  void sort_records();
  std::size_t most_records() const;
  void poll();

  const OpTable& table_;
  const PointEvaluator& evaluator_;
  std::size_t depth_;
  EnumerateLimits limits_;
  std::vector<Choice> first_;
  GraphCode code_;
  std::vector<std::vector<PointValue>> values_;               // of the nodes of code_
  std::vector<std::vector<Hash128>> prints_;                  // the same, fingerprints
  std::unordered_map<Hash128, std::array<Hash128, 2>> memo_;  // of last nodes
  std::vector<GraphRecord> records_;
  std::array<std::uint32_t, kMostDepth + 1> at_{};  // by nodes that are there: the choice of the next
  std::vector<std::uint32_t> way_;                  // where the run goes on, or was ended
  bool is_on_way_ = false;
  std::size_t grown_ = 0;
  End end_ = End::whole;
};

}
