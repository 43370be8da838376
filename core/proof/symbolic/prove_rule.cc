#include "core/proof/symbolic/prove_rule.h"

#include <algorithm>
#include <memory>

#include "core/proof/smt/run_smt.h"
#include "core/proof/smt/smt_text.h"
#include "core/proof/smt/z3_limits.h"
#include "core/proof/symbolic/equality.h"
#include "core/proof/symbolic/symbolic_sides.h"
#include "core/proof/symbolic/whole_equalities.h"

namespace regraft::proof {
namespace {

constexpr std::size_t kMostCases = 20000;

// What a case costs beside Z3's work.
constexpr std::uint64_t kWorkOfACase = 2000;

/// What one case claims, as it is written.
struct Equation {
  std::vector<SmtAssertion> assumptions;
  WrittenRef left, right;
};

/// A proof for one bound on ranks, as far as it came.
struct Attempt {
  explicit Attempt(const ProofOptions& options) : whole(options.most_bytes_whole) {}

  z3::context context;
  SmtText conditions{context};
  std::vector<Equation> equations;
  WholeEqualities whole;
  std::string example;  // the case at hand, in words
  ProofResult result;
};

class Prover {
 public:
  Prover(const rules::RuleSet& rules, std::uint32_t rule, const ProofOptions& options)
      : info_(rules.info(rule)), rule_(rules.compiled(rule)), options_(options) {}

  ProofResult run() {
    // A case of a larger rank costs some ten times one of the next smaller.
    constexpr std::uint64_t kGrowth = 8;
    std::unique_ptr<Attempt> best;
    // An image has two dims beside its height and width.
    const std::size_t least = std::max<std::size_t>(options_.least_rank, has_images() ? 4 : 0);
    for (std::size_t rank = least; rank <= options_.most_rank; ++rank) {
      unequal_ = unconfirmed_ = false;
      std::unique_ptr<Attempt> more = with_ranks(rank);
      if (best && !more->result.proved) {
        best->result.fails_above = unequal_;
        break;
      }
      best = std::move(more);
      if (!best->result.proved || kGrowth * work_ > options_.work) break;
    }
    if (!best) return {};
    if (best->result.proved) add_whole_equalities(*best);
    best->result.sets = !rule_.member_sets.empty();
    return std::move(best->result);
  }

 private:
  bool has_images() const {
    return std::any_of(rule_.nodes.begin(), rule_.nodes.end(), [](const rules::PatternNode& node) {
      return node.kinds.test(static_cast<std::size_t>(graph::OpKind::conv)) ||
             node.kinds.test(static_cast<std::size_t>(graph::OpKind::global_average_pool));
    });
  }

  std::unique_ptr<Attempt> with_ranks(std::size_t most_rank) {
    auto attempt = std::make_unique<Attempt>(options_);
    Attempt& found = *attempt;
    ProofResult& result = found.result;
    result.most_rank = most_rank;
    compared_ = 0;
    work_ = 0;
    rules::EnumeratedChoices choices;
    std::size_t tried = 0;
    try {
      do {
        if (work_ > options_.work || ++tried > kMostCases) throw Unprovable("more work than was allowed for");
        ProofCase state(found.context, choices, most_rank);
        const auto sides = elaborate(rule_, state);
        if (sides && same_ranks(*sides) && !one_case(state, *sides, found)) {
          unequal_ = !unconfirmed_ && !state.unsure();
          throw Unprovable("no proof of the case " + found.example.substr(0, 300));
        }
        work_ = state.work_of_z3() + tried * kWorkOfACase;
        result.cases = compared_;
      } while (choices.next());
      if (result.cases == 0) throw Unprovable("no case is possible");
      result.conditions = found.conditions.size();
      result.equalities = found.equations.size();
      result.guarded = guarded_;
      result.smt = found.conditions.text(comment(found), "");
      if (result.smt.size() > options_.most_bytes)
        throw Unprovable("its proof has " + std::to_string(result.smt.size()) + " bytes");
      result.proved = true;
    } catch (const Unprovable& e) {
      result.why_not = e.problem();
    } catch (const z3::exception& e) {
      result.why_not = e.msg();
    } catch (const std::out_of_range&) {
      result.why_not = "a case outside of its ranks";
    }
    return attempt;
  }

  // Where z3 does not confirm them one after the other, the file is without them.
  void add_whole_equalities(Attempt& found) const {
    ProofResult& result = found.result;
    for (const Equation& e : found.equations) found.whole.add(e.assumptions, e.left, e.right);
    result.whole = found.whole.confirmed();
    if (result.whole == 0) return;
    std::string file = found.conditions.text(comment(found), found.whole.text());
    if (all_unsat(run_smt(file)))
      result.smt = std::move(file);
    else
      result.whole = 0;
  }

  // Other ranks, or an absent value, are no match, since types would change.
  static bool same_ranks(const SymbolicSides& sides) {
    for (const auto& [before, after] : sides.replaced) {
      if (!before.present || !after.present || before.dims.size() != after.dims.size()) return false;
    }
    return true;
  }

  bool one_case(ProofCase& state, const SymbolicSides& sides, Attempt& found) {
    std::vector<z3::expr> obligations = state.obligations();
    for (const auto& [before, after] : sides.replaced) {
      for (std::size_t d = 0; d < before.dims.size(); ++d)
        obligations.push_back(before.dims[d] == after.dims[d]);
    }
    for (const z3::expr& obligation : obligations) {
      if (state.follows(obligation) && found.conditions.add(state.assumptions(), obligation)) continue;
      // The matcher refuses a match whose types would change: a guard of every rule.
      state.assume(obligation);
      guarded_ = true;
    }
    if (!state.possible()) return true;
    ++compared_;
    for (const auto& [before, after] : sides.replaced) {
      if (!same_values(state, before, after, found)) return false;
    }
    return true;
  }

  bool same_values(ProofCase& state, const SymbolicTensor& before, const SymbolicTensor& after,
                   Attempt& found) {
    Index place;
    for (const z3::expr& d : before.dims) {
      place.push_back(state.fresh("i"));
      state.assume(place.back() >= 0 && place.back() < d);
    }
    if (!before.at || !after.at) throw Unprovable("a value that is no real tensor");
    const Poly left = before.at(place), right = after.at(place);
    found.example = to_text(left) + "\n  and " + to_text(right);
    Equality equality(state);
    if (!equality.equal(left, right, {})) return false;
    for (const ProofObligation& obligation : equality.obligations()) {
      std::vector<SmtAssertion> facts = state.assumptions();
      facts.insert(facts.end(), obligation.facts.begin(), obligation.facts.end());
      if (!found.conditions.add(facts, obligation.goal)) {
        unconfirmed_ = true;
        return false;
      }
    }
    // From facts that contradict each other anything would follow.
    if (!state.possible()) throw Unprovable("a case whose places contradict each other");
    found.equations.push_back({state.assumptions(), left.written, right.written});
    return true;
  }

  std::string comment(const Attempt& found) const {
    const ProofResult& result = found.result;
    std::string out =
        "; " + info_.text + "\n; For all dims; " + std::to_string(result.cases) + " cases, ranks to " +
        std::to_string(result.most_rank) + (rule_.member_sets.empty() ? "" : ", sets of up to 3") +
        ".\n; What is left to confirm once both sides are in normal form, each with its negation asserted: " +
        std::to_string(result.conditions) + " conditions.\n";
    if (result.whole > 0)
      out += "; Then whole equalities of both sides as the operations define them: " +
             std::to_string(result.whole) + " of " + std::to_string(result.equalities) + ", in " +
             std::to_string(found.whole.blocks()) + " blocks.\n";
    return out + "; What is taken for granted, of places, sums and products, is called an axiom.\n";
  }

  const rules::RuleInfo& info_;
  const rules::CompiledRule& rule_;
  const ProofOptions& options_;
  bool guarded_ = false;
  bool unequal_ = false;      // the present attempt ended at two normal forms that are not the same
  bool unconfirmed_ = false;  // or at a condition that Z3 did not confirm once more
  std::size_t compared_ = 0;
  std::uint64_t work_ = 0;  // on the present bound on ranks
};

}  // namespace

ProofResult prove_rule(const rules::RuleSet& rules, std::uint32_t rule, const ProofOptions& options) {
  set_time_limit();
  return Prover(rules, rule, options).run();
}

}
