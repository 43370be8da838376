#pragma once

// Internal to core/synth: conditions as SMT-LIB.

#include <z3++.h>

#include <map>
#include <string>
#include <vector>

namespace regraft::synth {

/// Collects what Z3 has to confirm, each condition once: those that differ only in names are one.
class SmtText {
 public:
  explicit SmtText(z3::context& context) : context_(context) {}

  /// `claim` follows from `facts`; only the facts that are needed are kept. False where z3 does not confirm
  /// it.
  bool add(const std::vector<z3::expr>& facts, const z3::expr& claim);
  std::size_t size() const { return blocks_.size(); }
  /// A file with the given first lines.
  std::string text(const std::string& comment) const;

 private:
  z3::context& context_;
  std::map<std::string, std::size_t> blocks_;  // number in order
  std::map<std::string, bool> seen_;           // before facts were left out
};

}  // namespace regraft::synth
