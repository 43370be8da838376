#include "core/proof/smt/smt_text.h"

#include <set>

#include "core/proof/smt/z3_limits.h"

namespace regraft::proof {
namespace {

// In Z3's units of work, which are the same on every machine. A proof file asks for no more than ten times
// this.
constexpr unsigned kQueryWork = 10000000;

// Names that are declared, in order of appearance, each with its place of first use.
void declarations(const z3::expr& e, std::vector<z3::func_decl>& out, std::set<unsigned>& seen) {
  if (!e.is_app() || !seen.insert(e.id()).second) return;
  const z3::func_decl decl = e.decl();
  if (decl.decl_kind() == Z3_OP_UNINTERPRETED) {
    bool held = false;
    for (const z3::func_decl& d : out) held = held || z3::eq(d, decl);
    if (!held) out.push_back(decl);
  }
  for (unsigned i = 0; i < e.num_args(); ++i) declarations(e.arg(i), out, seen);
}

bool name_char(char c) {
  return c != '(' && c != ')' && c != ' ' && c != '\n' && c != '\t';
}

// Every whole word that is a key, replaced.
std::string renamed(const std::string& text, const std::map<std::string, std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && name_char(text[end])) ++end;
    const std::string word = text.substr(i, end - i);
    const auto found = names.find(word);
    out += found == names.end() ? word : found->second;
    const bool blank = end < text.size() && (text[end] == ' ' || text[end] == '\n');
    if (end < text.size()) out += text[end] == '\n' ? ' ' : text[end];
    i = end + 1;
    while (blank && i < text.size() && text[i] == ' ') ++i;
  }
  return out;
}

std::string name_of(const z3::func_decl& d, std::size_t number) {
  const char* prefix = d.arity() > 0 ? "f" : d.range().is_bool() ? "p" : d.range().is_int() ? "n" : "r";
  return prefix + std::to_string(number);
}

std::string declaration(const z3::func_decl& d, const std::string& name) {
  std::string out = "(declare-fun " + name + " (";
  for (unsigned i = 0; i < d.arity(); ++i) out += std::string(i == 0 ? "" : " ") + d.domain(i).to_string();
  return out + ") " + d.range().to_string() + ")\n";
}

}  // namespace

std::string smt_block(const std::vector<SmtAssertion>& assertions,
                      const std::vector<std::pair<z3::expr, z3::expr>>& meanings) {
  std::vector<z3::func_decl> declared;
  std::set<unsigned> seen;
  for (const SmtAssertion& a : assertions) declarations(a.claim, declared, seen);
  std::map<std::string, std::string> names;
  std::string out = "(push)\n";
  for (const z3::func_decl& d : declared) {
    const std::string name = name_of(d, names.size());
    names[d.name().str()] = name;
    out += declaration(d, name);
  }
  for (const auto& [constant, meaning] : meanings) {
    const auto name = names.find(constant.decl().name().str());
    if (name != names.end()) out += "; " + name->second + " is " + renamed(meaning.to_string(), names) + "\n";
  }
  for (const SmtAssertion& a : assertions) {
    if (!a.comment.empty()) out += a.comment + "\n";
    out += "(assert " + renamed(a.claim.to_string(), names) + ")\n";
  }
  return out + "(check-sat)\n(pop)\n";
}

bool SmtText::add(const std::vector<SmtAssertion>& facts, const z3::expr& claim) {
  if (claim.simplify().is_true()) return true;
  std::vector<SmtAssertion> all = facts;
  all.emplace_back(!claim);
  const std::string whole = smt_block(all, {});
  if (const auto held = seen_.find(whole); held != seen_.end()) return held->second;
  z3::solver solver(context_);
  solver.set(limits_of(context_, kQueryWork));
  z3::expr_vector flags(context_);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    flags.push_back(context_.bool_const(("needed!" + std::to_string(i)).c_str()));
    solver.add(z3::implies(flags.back(), facts[i].claim));
  }
  solver.add(!claim);
  const bool confirmed = solver.check(flags) == z3::unsat;
  seen_[whole] = confirmed;
  if (!confirmed) return false;
  std::set<std::string> needed;
  const z3::expr_vector core = solver.unsat_core();
  for (unsigned i = 0; i < core.size(); ++i) needed.insert(core[i].to_string());
  std::vector<SmtAssertion> kept;
  for (unsigned i = 0; i < flags.size(); ++i) {
    if (needed.contains(flags[i].to_string())) kept.push_back(facts[i]);
  }
  kept.emplace_back(!claim);
  blocks_.try_emplace(smt_block(kept, {}), blocks_.size());
  return true;
}

std::string SmtText::text(const std::string& comment, const std::string& more) const {
  std::vector<const std::string*> ordered(blocks_.size());
  for (const auto& [block, number] : blocks_) ordered[number] = &block;
  std::string out = comment + "(set-option :reproducible-resource-limit " +
                    std::to_string(10 * std::uint64_t{kQueryWork}) + ")\n";
  for (const std::string* block : ordered) out += *block;
  // Where definitions alone decide there is nothing to confirm but that.
  if (blocks_.empty() && more.empty())
    out += "(assert false) ; both sides have one normal form: no condition is left\n(check-sat)\n";
  return out + more;
}

}
