#pragma once

// Internal to core/rulegen: rewriting of generated graphs by rules found so far, to see which equalities
// follow.

#include <functional>
#include <vector>

#include "core/rulegen/enumerate/graph_code.h"

namespace regraft::rulegen {

/// Two graphs that compute the same: `right` (refs of its graph) stands for the roots of `left`, in the order
/// of roots_of. Leaves are variables for any value.
struct CodeRule {
  GraphCode left, right;
  std::vector<std::int8_t> right_roots;
};

/// The rules that link graphs of one class. Adding is for one thread; visiting for any number.
class Linker {
 public:
  explicit Linker(const OpTable& table) : table_(table) {}

  void add(const CodeRule& rule);
  std::size_t size() const { return rules_.size(); }
  /// Calls visit(code) with each graph that one use of a rule numbered `from` or higher makes of `graph`. The
  /// graph has at most kMostDepth nodes and the same roots.
  void visit(const GraphCode& graph, std::size_t from,
             const std::function<void(const GraphCode&)>& visit) const;
  /// The same of one rule.
  void visit_one(const GraphCode& graph, std::size_t rule,
                 const std::function<void(const GraphCode&)>& visit) const;

 private:
  /// Rules whose left sides have the same forms; ascending.
  struct Bucket {
    std::uint64_t forms = 0;  // as bits
    std::vector<std::size_t> rules;
  };

  const OpTable& table_;
  std::vector<CodeRule> rules_;
  std::vector<Bucket> buckets_;
};

}
