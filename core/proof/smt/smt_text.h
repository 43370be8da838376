#pragma once

// Internal to core/proof: conditions as SMT-LIB.

#include <z3++.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace regraft::proof {

struct SmtAssertion {
  SmtAssertion(z3::expr what, std::string about = {})  // NOLINT: an expression is one
      : claim(std::move(what)), comment(std::move(about)) {}

  z3::expr claim;
  std::string comment;  // a line before it; empty: none
};

/// A block that declares what the assertions speak of, asserts them and asks whether they contradict each
/// other. Names are given in order of appearance, so that blocks that differ in names only are the same text.
/// What a constant that is spoken of means may be said; it is a comment.
std::string smt_block(const std::vector<SmtAssertion>& assertions,
                      const std::vector<std::pair<z3::expr, z3::expr>>& meanings);

/// Collects what Z3 has to confirm, each condition once: those that differ only in names are one.
class SmtText {
 public:
  explicit SmtText(z3::context& context) : context_(context) {}

  /// `claim` follows from `facts`; only the facts that are needed are kept. False where z3 does not confirm
  /// it.
  bool add(const std::vector<SmtAssertion>& facts, const z3::expr& claim);
  std::size_t size() const { return blocks_.size(); }
  /// A file with the given first lines and further blocks.
  std::string text(const std::string& comment, const std::string& more) const;

 private:
  z3::context& context_;
  std::map<std::string, std::size_t> blocks_;  // number in order
  std::map<std::string, bool> seen_;           // before facts were left out
};

}
