#pragma once

// Internal to core/proof: whole equalities of a proof, from the definitions of the operations, as SMT-LIB.

#include <map>
#include <string>

#include "core/proof/smt/smt_text.h"
#include "core/proof/symbolic/sum_laws.h"

namespace regraft::proof {

/// Collects blocks, each of which asserts what a case assumes, instances of laws (sum_laws.h) and that
/// the two sides, as they are written, differ: `unsat` says that they are equal, whatever the normal form
/// made of them. What Z3 does not confirm within its limit, or what does not fit into the file, is left out.
/// Works in contexts of its own: what the prover does with Z3 stays the same.
class WholeEqualities {
 public:
  explicit WholeEqualities(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// One equality of one case. Says whether it is among the blocks.
  bool add(const std::vector<SmtAssertion>& assumptions, const WrittenRef& left, const WrittenRef& right);
  std::size_t confirmed() const { return confirmed_; }
  std::size_t blocks() const { return blocks_.size(); }
  std::string text() const;

 private:
  std::string block(const std::vector<SmtAssertion>& assumptions, const WrittenRef& left,
                    const WrittenRef& right, SumLaws::Products products);

  std::size_t most_bytes_, bytes_ = 0, confirmed_ = 0;
  bool full_ = false;                          // a block did not fit: no more are tried
  std::uint64_t work_ = 0;                     // of Z3, so far
  std::map<std::string, std::size_t> blocks_;  // number in order
};

}
