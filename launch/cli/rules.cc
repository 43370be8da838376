#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "core/base/atomic_file.h"
#include "core/base/counted.h"
#include "core/base/file.h"
#include "core/base/find_config.h"
#include "core/base/text.h"
#include "core/proof/verify/verify.h"
#include "core/rules/examples/applicability.h"
#include "core/rules/lang/pretty.h"
#include "core/rules/lang/rule_error.h"
#include "core/rules/set/status_table.h"
#include "launch/cli/commands.h"
#include "launch/command/choices.h"

namespace regraft::launch {
namespace {

using rules::RuleStatus;

constexpr unsigned kRuleColumn = 1;  // where every rule begins: what is indented goes on with the one before

struct RulesArguments {
  std::filesystem::path rules = "configs/rules";
  std::string family, status, mark, name;
  std::vector<std::string> names;
  bool write = false, verbose = false, counts = false, proof = false;
  std::uint64_t work_millions = proof::ProofOptions{}.work / proof::ProofOptions::kMillion;
  proof::VerifyOptions verify;
};

rules::RuleSet load(const std::filesystem::path& path) {
  return rules::RuleSet::load(find_config(path), rules::RuleChoice::all());
}

std::size_t find(const rules::RuleSet& rules, const std::string& name, const RulesArguments& options) {
  if (const auto number = rules.find(name)) return *number;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rules.size(); ++i) names.push_back(rules.info(i).name);
  const std::string like = suggestion(name, names);
  throw UsageError("there is no rule '" + name + "'", options.rules.string(),
                   (like.empty() ? "" : like + "; ") + "regraft rules list shows all");
}

using Chosen = std::function<bool(const rules::RuleInfo&)>;

/// How many rules each file and family has, by status; both in the order of the rules, which is by file.
int count(const rules::RuleSet& rules, const Chosen& chosen) {
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, std::array<std::size_t, 3>> counts;
  std::array<std::size_t, 3> all{};  // proved, bounded_checked, tested
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const rules::RuleInfo& info = rules.info(i);
    if (!chosen(info)) continue;
    const std::pair key(info.file.filename().string(), info.family);
    if (!counts.contains(key)) order.push_back(key);
    ++counts[key][static_cast<std::size_t>(info.status)];
    ++all[static_cast<std::size_t>(info.status)];
  }
  const auto line = [](const std::string& source, const std::string& family,
                       const std::array<std::size_t, 3>& row) {
    std::printf("%-18s %-14s %7zu %15zu %7zu %7zu\n", source.c_str(), family.c_str(), row[0], row[1], row[2],
                row[0] + row[1] + row[2]);
  };
  std::printf("%-18s %-14s %7s %15s %7s %7s\n", "source", "family", "proved", "bounded_checked", "tested",
              "all");
  for (const auto& key : order) line(key.first, key.second, counts[key]);
  line("all", "", all);
  return kDone;
}

void require_family(const rules::RuleSet& rules, const RulesArguments& options) {
  std::set<std::string> families;
  for (std::size_t i = 0; i < rules.size(); ++i) families.insert(rules.info(i).family);
  if (options.family.empty() || families.contains(options.family)) return;
  const std::vector<std::string> known(families.begin(), families.end());
  throw UsageError("there is no family '" + options.family + "'", options.rules.string(),
                   suggestion(options.family, known));
}

/// Who checked the rule's present status, where it was another version of the checks; else empty.
std::string other_checker(const rules::StatusTable& table, const rules::RuleInfo& info) {
  if (table.found_by_older(info)) return "an older checker";
  return table.found_by_newer(info) ? "a newer checker" : "";
}

// What others found stays in force, and is said.
void report_checkers(const std::map<std::string, std::size_t>& statuses) {
  for (const auto& [checker, count] : statuses) {
    if (checker.empty()) continue;
    const bool newer = checker == "a newer checker";
    std::printf("%zu statuses are by %s: %srun 'regraft rules verify --write'\n", count, checker.c_str(),
                newer ? "use the program that it belongs to, or " : "");
  }
}

int list(const RulesArguments& options) {
  const auto wanted = rules::status_from_name(options.status);
  const auto marked = rules::mark_from_name(options.mark);
  const rules::RuleSet rules = load(options.rules);
  require_family(rules, options);
  rules::StatusTables tables;
  const Chosen chosen = [&](const rules::RuleInfo& info) {
    return (options.family.empty() || info.family == options.family) && (!wanted || info.status == *wanted) &&
           (!marked || info.has(*marked));
  };
  if (options.counts) return count(rules, chosen);
  std::size_t shown = 0;
  std::map<std::string, std::size_t> checkers;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const rules::RuleInfo& info = rules.info(i);
    if (!chosen(info)) continue;
    const std::string checker = other_checker(tables.of(info), info);
    const std::string domain = info.domain.empty() ? "" : "  (needs --allow-domain " + info.domain + ")";
    std::printf("%-14s %-15s %s%s%s%s\n", info.family.c_str(), std::string(status_name(info.status)).c_str(),
                info.name.c_str(), rules::marks_text(info.marks).c_str(), domain.c_str(),
                checker.empty() ? "" : ("  (by " + checker + ")").c_str());
    ++shown;
    ++checkers[checker];
  }
  report_checkers(checkers);
  std::printf("%zu of %zu rules, set %s\n", shown, rules.size(), rules.hash().hex().c_str());
  return kDone;
}

int print_proof(const rules::RuleInfo& info, const std::string* proof) {
  if (!proof)
    throw rules::RuleError("rule '" + info.name + "' has no proof", rules::ProofArchive::path_of(info.file),
                           "regraft rules show " + info.name + " says what is known of it");
  std::fwrite(proof->data(), 1, proof->size(), stdout);
  return kDone;
}

int show(const RulesArguments& options) {
  const rules::RuleSet rules = load(options.rules);
  const rules::RuleInfo& info = rules.info(find(rules, options.name, options));
  const rules::StatusTable table = rules::StatusTable::load(info.file);
  const rules::StatusLine* line = table.find(info.name);
  const std::string* proof = table.proofs().find(info.name);
  if (options.proof) return print_proof(info, proof);
  std::printf("%s\n", rules::pretty(info.text).c_str());
  std::printf("family %s, %s\n", info.family.c_str(), std::string(status_name(info.status)).c_str());
  for (const rules::RuleMark mark : info.marks)
    std::printf("%s: %s\n", std::string(mark_name(mark)).c_str(), std::string(mark_meaning(mark)).c_str());
  if (line && line->text_hash != rules::StatusTable::hash_of(info)) {
    std::printf("was %s before its text was edited: run 'regraft rules verify --write %s'\n",
                std::string(status_name(line->status)).c_str(), info.name.c_str());
  } else if (line) {
    const std::string checker = other_checker(table, info);
    std::printf("%s%s\n", checker.empty() ? "" : ("(by " + checker + ") ").c_str(), line->note.c_str());
  }
  if (proof)
    std::printf("proof %s of %s\n", rules::ProofArchive::member_of(info.name).c_str(),
                rules::ProofArchive::path_of(info.file).c_str());
  return kDone;
}

int check(const RulesArguments& options) {
  const rules::RuleSet rules = load(options.rules);
  std::size_t idle = 0, untried = 0;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const rules::RuleInfo& info = rules.info(i);
    const rules::Applicability found = rules::try_rule(info);
    if (found.applies) continue;
    std::printf(
        "%s:%u:%u: rule '%s' %s: %s (%s; or see whether it matches in a model of yours: "
        "regraft rules usage MODEL --rules tested:%s)\n",
        info.file.c_str(), info.line, kRuleColumn, info.name.c_str(),
        found.graphs == 0 ? "could not be tried" : "rewrites nothing", found.why_not().c_str(),
        found.remedy().c_str(), info.file.c_str());
    ++(found.graphs == 0 ? untried : idle);
  }
  const std::string number = counted(static_cast<int>(rules.size()), "rule");
  std::printf("%s %s well formed", number.c_str(), rules.size() == 1 ? "is" : "are");
  if (idle > 0) std::printf(", %zu of them rewrite nothing", idle);
  if (untried > 0) std::printf(", of %zu no example could be made", untried);
  std::printf("\n");
  return idle + untried > 0 ? kFailed : kDone;
}

using Counts = std::map<std::string, std::array<std::size_t, 4>>;  // proved, bounded_checked, tested, refuted

void print_counts(const char* what, const Counts& counts) {
  std::printf("\n%-20s %7s %15s %7s %8s\n", what, "proved", "bounded_checked", "tested", "refuted");
  for (const auto& [name, row] : counts)
    std::printf("%-20s %7zu %15zu %7zu %8zu\n", name.c_str(), row[0], row[1], row[2], row[3]);
}

const rules::RuleInfo& info_of(const proof::Verdict& verdict, const rules::RuleSet& rules) {
  return rules.info(rules.find(verdict.rule).value());
}

void report(const std::vector<proof::Verdict>& verdicts, const rules::RuleSet& rules) {
  Counts by_family, by_source;
  double bounded = 0, proving = 0;
  std::size_t proofs = 0, whole_proofs = 0, equalities = 0, whole = 0;
  for (const proof::Verdict& v : verdicts) {
    const std::size_t column = v.refuted ? 3 : static_cast<std::size_t>(v.status);
    for (const std::string& family : {v.family, std::string("total")}) ++by_family[family][column];
    ++by_source[info_of(v, rules).file.filename().string()][column];
    bounded += v.bounded_seconds;
    proving += v.proof_seconds;
    equalities += v.equalities;
    whole += v.whole;
    proofs += v.proof.empty() ? 0 : 1;
    whole_proofs += !v.proof.empty() && v.whole == v.equalities ? 1 : 0;
  }
  print_counts("source", by_source);
  print_counts("family", by_family);
  std::printf("\nequalities that Z3 confirms whole: %zu of %zu; all of them in %zu of %zu proofs\n", whole,
              equalities, whole_proofs, proofs);
  std::printf("exact checks %.1f s, proofs %.1f s of processor time\n", bounded, proving);
}

// In which way a verdict is not what the rule's status says; empty: in none.
std::string disagreement(const proof::Verdict& verdict, const rules::RuleSet& rules) {
  const rules::RuleInfo& info = info_of(verdict, rules);
  if (verdict.refuted) return "wrong";
  if (!verdict.stored_problem.empty()) return verdict.stored_problem;
  rules::StatusTables tables;
  const rules::StatusLine* const line = tables.of(info).find(info.name);
  const std::string found = status_word(verdict.status, verdict.ranks, verdict.only);
  const std::string stored = status_word(info.status, line ? line->ranks : 0, line && line->only);
  if (found == stored) return "";
  const bool proved = verdict.status == RuleStatus::proved && info.status == RuleStatus::proved;
  const bool less =
      proved ? verdict.ranks < line->ranks || (verdict.only && !line->only) : verdict.status > info.status;
  return (less ? "only " + found + ", its status says " : found + " is better than its status, ") + stored;
}

void report_checkers(const rules::RuleSet& rules, const std::vector<std::size_t>& numbers) {
  rules::StatusTables tables;
  std::map<std::string, std::size_t> checkers;
  for (const std::size_t number : numbers)
    ++checkers[other_checker(tables.of(rules.info(number)), rules.info(number))];
  report_checkers(checkers);
}

int verify(const RulesArguments& options) {
  const rules::RuleSet rules = load(options.rules);
  proof::VerifyOptions how = options.verify;
  how.stored_too = true;
  how.proof.work = options.work_millions * proof::ProofOptions::kMillion;
  std::vector<std::size_t> numbers;
  for (const std::string& name : options.names)
    if (const std::size_t number = find(rules, name, options); std::ranges::count(numbers, number) == 0)
      numbers.push_back(number);
  if (numbers.empty()) {
    for (std::size_t i = 0; i < rules.size(); ++i) numbers.push_back(i);
  }
  if (options.write) {
    for (const std::size_t i : numbers)  // throws now, not after an hour's work
      const AtomicFile probe(rules::StatusTable::path_of(rules.info(i).file));
  }
  std::size_t failures = 0;
  const auto verdicts = proof::verify_rules(rules, numbers, how, [&](const proof::Verdict& v) {
    const std::string differs = disagreement(v, rules);
    const bool failed = !differs.empty() && (!options.write || v.refuted);
    failures += failed ? 1 : 0;
    if (options.write) proof::write_statuses(rules, {v});
    if (!options.verbose && differs.empty() && v.status != RuleStatus::tested) return;
    std::printf("%-28s %-15s %6.2f s  %s%s%s%s%s\n", v.rule.c_str(),
                v.refuted ? "REFUTED" : std::string(status_name(v.status)).c_str(),
                v.bounded_seconds + v.proof_seconds, v.note.c_str(),
                v.why_not_proved.empty() ? "" : "; not proved: ", v.why_not_proved.c_str(),
                differs.empty() || v.refuted ? "" : "; ", v.refuted ? "" : differs.c_str());
    std::fflush(stdout);
  });
  report(verdicts, rules);
  if (!options.write) report_checkers(rules, numbers);
  if (failures > 0)
    std::printf("%zu rules are not what their status says%s\n", failures,
                options.write ? "" : ": mend them, or run 'regraft rules verify --write'");
  return failures > 0 ? kFailed : kDone;
}

Command* add_verb(Command& command, const char* name, const char* help,
                  const std::shared_ptr<RulesArguments>& options, Action& action,
                  int (*run)(const RulesArguments&)) {
  Command* sub = command.add_subcommand(name, help);
  sub->callback([options, run, &action] { action = [options, run] { return run(*options); }; });
  if (std::string_view(name) != "check")
    sub->add_option("--rules", options->rules, "a .rules file or a folder of them")->capture_default_str();
  return sub;
}

}  // namespace

void add_rules(Command& program, Action& action) {
  auto options = std::make_shared<RulesArguments>();
  Command* command =
      program.add_subcommand("rules", "list, check, prove and find rules, and see where they match");
  command->require_subcommand();
  Command* lists =
      add_verb(*command, "list", "list rules by family, with their status", options, action, list);
  lists->add_option("--family", options->family, "only rules of this family");
  lists->add_option("--status", options->status, "only rules of this status")
      ->check(one_of({"proved", "bounded_checked", "tested"},
                     {{std::string(rules::kFormerBounded), "bounded_checked"}}));
  lists
      ->add_option("--mark", options->mark,
                   "only those that hold under this condition: configs/rules/marks.md")
      ->check(one_of({"finite", "bounded-terms", "nonempty"}));
  lists->add_flag("--counts", options->counts, "print only how many there are, by file, family and status");
  Command* shows = add_verb(*command, "show", "one rule's text, status and proof", options, action, show);
  shows->add_option("NAME", options->name, "name of the rule")->required();
  shows->add_flag("--proof", options->proof, "print its proof alone, for an SMT solver: ... | z3 -in");
  Command* checks =
      add_verb(*command, "check", "read rules, report the first error, and the rules that rewrite nothing",
               options, action, check);
  checks->add_option("FILE,--rules", options->rules, "a .rules file or a folder of them")
      ->capture_default_str();
  Command* verifies = add_verb(*command, "verify", "check rules on exact examples, and prove them again",
                               options, action, verify);
  verifies->add_option("NAME", options->names, "rules to verify (default: all)");
  verifies->add_option("--jobs", options->verify.jobs, "rules verified at the same time")
      ->check(in_range(1, 1024))
      ->capture_default_str();
  verifies->add_option("--z3", options->verify.z3, "a z3 program that checks the proofs too");
  verifies
      ->add_option("--draws", options->verify.bounded.random_matches,
                   "random matches of each rule that are compared, besides the grid of small examples")
      ->capture_default_str();
  verifies
      ->add_option("--work", options->work_millions,
                   "limit for the proof of one rule up to one rank: millions of Z3's resource units, some "
                   "tenths of a second each")
      ->check(in_range(1, 100000))
      ->capture_default_str();
  verifies->add_flag("--write", options->write,
                     "store statuses and proofs beside the rules: of mine.rules in mine.status and "
                     "mine.proofs.tar.xz; those of rules that are no longer in the file are removed");
  add_rules_import(*command, action);
  add_rules_generate(*command, action);
  add_rules_usage(*command, action);
  verifies->add_flag("--verbose", options->verbose, "print a line for each rule");
}

}
