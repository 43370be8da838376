#include "core/proof/symbolic/whole_equalities.h"

#include <set>

#include "core/proof/smt/run_smt.h"
#include "core/proof/smt/z3_limits.h"

namespace regraft::proof {
namespace {

// In Z3's units of work, which are the same on every machine: for one block, and for all of a rule.
constexpr unsigned kBlockWork = 2000000;
constexpr std::uint64_t kMostWork = 30000000;

std::string limits() {
  return "(set-option :reproducible-resource-limit " + std::to_string(2 * kBlockWork) +
         ")\n(set-option :timeout " + std::to_string(kEndlessMilliseconds) + ")\n";
}

// Those that are needed, the last one always. Nothing where they do not contradict each other, or do so
// without the last one.
std::vector<SmtAssertion> contradiction(z3::context& context, const std::vector<SmtAssertion>& all,
                                        std::uint64_t& work) {
  z3::solver solver(context);
  solver.set(limits_of(context, kBlockWork));
  z3::expr_vector flags(context);
  for (std::size_t i = 0; i < all.size(); ++i) {
    flags.push_back(context.bool_const(("needed!" + std::to_string(i)).c_str()));
    solver.add(z3::implies(flags.back(), all[i].claim));
  }
  const bool found = solver.check(flags) == z3::unsat;
  work += work_of(solver);
  if (!found) return {};
  std::set<std::string> needed;
  const z3::expr_vector core = solver.unsat_core();
  for (unsigned i = 0; i < core.size(); ++i) needed.insert(core[i].to_string());
  std::vector<SmtAssertion> kept;
  for (unsigned i = 0; i < flags.size(); ++i) {
    if (needed.contains(flags[i].to_string())) kept.push_back(all[i]);
  }
  if (!needed.contains(flags.back().to_string())) kept.clear();
  return kept;
}

}  // namespace

// Empty where z3 does not confirm it.
std::string WholeEqualities::block(const std::vector<SmtAssertion>& assumptions, const WrittenRef& left,
                                   const WrittenRef& right, SumLaws::Products products) {
  z3::context context;
  SumLaws laws(context, products);
  const z3::expr a = laws.value(left), b = laws.value(right);
  const SmtAssertion differ{!(a == b), "; the two sides"};
  std::vector<SmtAssertion> all = {differ};
  if (!z3::eq(a.simplify(), b.simplify())) {
    if (!laws.relate(left, right)) return {};
    all.clear();
    for (const SmtAssertion& fact : assumptions) all.emplace_back(laws.translated(fact.claim), fact.comment);
    for (const Law& law : laws.laws()) all.emplace_back(law.claim, "; axiom: " + law.name);
    all.push_back(differ);
    all = contradiction(context, all, work_);
    if (all.empty()) return {};
  }
  const std::string found = smt_block(all, laws.sums());
  if (blocks_.contains(found)) return found;
  if (!all_unsat(run_smt(limits() + found))) return {};
  all.pop_back();
  return run_smt(limits() + smt_block(all, {})).find("unsat") == std::string::npos ? found : std::string();
}

bool WholeEqualities::add(const std::vector<SmtAssertion>& assumptions, const WrittenRef& left,
                          const WrittenRef& right) {
  if (!left || !right || full_ || work_ > kMostWork) return false;
  for (const auto products : {SumLaws::Products::by_arithmetic, SumLaws::Products::by_laws}) {
    std::string found;
    try {
      found = block(assumptions, left, right, products);
    } catch (const z3::exception&) {
      continue;  // an equality that Z3 cannot work on is one that it does not confirm
    } catch (const std::overflow_error&) {
      continue;
    }
    if (found.empty()) continue;
    const bool held = blocks_.contains(found);
    full_ = !held && bytes_ + found.size() > most_bytes_;
    if (full_) return false;
    if (!held) {
      bytes_ += found.size();
      blocks_.emplace(std::move(found), blocks_.size());
    }
    ++confirmed_;
    return true;
  }
  return false;
}

std::string WholeEqualities::text() const {
  std::vector<const std::string*> ordered(blocks_.size());
  for (const auto& [block, number] : blocks_) ordered[number] = &block;
  std::string out;
  for (const std::string* block : ordered) out += *block;
  return out;
}

}
