#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/rules/rewrite/rewrite_log.h"
#include "core/rules/rewrite/rewriter.h"
#include "launch/optimise/bisect.h"

namespace regraft::launch {

/// The rewrites of a path that remain when some are left out, as matches of the graphs that they now meet. A
/// rewrite of what a left-out rewrite made is left out too. `start` is where the path begins.
std::vector<rules::Match> path_without(const graph::Graph& start, const rules::RuleSet& rules,
                                       std::span<const rules::Match> path,
                                       const std::set<std::size_t>& left_out);

/// What is done without after a rewrite made the whole model another one.
enum class Without { rewrite, rewrites_of_rule, rule, everything };

/// Those of a path to be left out with the culprit, by their places in it.
std::set<std::size_t> rewrites_to_leave(std::span<const rules::Match> path, std::size_t culprit,
                                        Without without);

/// Entries of a log that are clean-up: they come first.
std::size_t cleaned(const rules::RewriteLog& log);
/// "rule add-add (rewrite 3)", "clean-up:fold (step 0)", "one of entries 3 to 9"; nothing: "no single
/// rewrite".
std::string entry_name(const rules::RewriteLog& log, const std::optional<Bisection>& entries);

/// Remembers who was blamed: first one rewrite is left out, then all by its rule, then the rule, and the
/// search made again. What is blamed more than `most` times in all ends with the input.
class Blame {
 public:
  static constexpr int kAsManyAsThereAre = std::numeric_limits<int>::max();

  explicit Blame(int most = 12) : most_(most) {}  // each costs a bisection of the whole model
  Without after(const std::string& rule);

 private:
  int most_;
  std::map<std::string, int> times_;
  int total_ = 0;
};

}
