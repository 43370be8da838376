#include "core/proof/verify/verify.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <map>
#include <new>
#include <set>
#include <thread>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/mutex.h"
#include "core/proof/smt/run_smt.h"

namespace regraft::proof {
namespace {

using rules::RuleStatus;

constexpr int kNotRun = 127;

/// Processor time of this thread.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string in_words(const BoundedResult& found) {
  switch (found.outcome) {
    case BoundedResult::Outcome::refuted:
      return "refuted: " + found.counterexample;
    case BoundedResult::Outcome::sampled:
      return std::to_string(found.random_matches) + " random matches";
    default:  // the head of a status file says how many random ones there are else
      return std::to_string(found.grid_matches) + " in " + std::to_string(found.examples) + " of " +
             found.grid +
             (found.random_matches == rules::kUsualRandomMatches
                  ? ""
                  : "; " + std::to_string(found.random_matches) + " random");
  }
}

ProofResult refused(const std::string& why) {
  ProofResult out;
  out.why_not = why;
  return out;
}

// Proves the rule and has its proof confirmed as a text.
void add_proof(const rules::RuleSet& alone, const VerifyOptions& options, Verdict& verdict) {
  const double start = thread_seconds();
  ProofResult found = prove_rule(alone, 0, options.proof);
  if (found.proved && !all_unsat(run_smt(found.smt))) found = refused("its proof does not answer unsat");
  if (found.proved && !options.z3.empty() && !all_unsat(run_z3_program(options.z3, found.smt)))
    found = refused("the z3 program does not confirm its proof");
  verdict.proof_seconds = thread_seconds() - start;
  verdict.why_not_proved = found.why_not;
  if (!found.proved) return;
  verdict.ranks = found.most_rank;
  verdict.only = found.fails_above;
  verdict.equalities = found.equalities;
  verdict.whole = found.whole;
  if (!found.sets) {
    verdict.status = RuleStatus::proved;
    verdict.proof = std::move(found.smt);
  }
  verdict.note = (found.sets ? "sets to 3, ranks to " + std::to_string(found.most_rank) + ", " : "") +
                 std::to_string(found.cases) + " cases, " + std::to_string(found.whole) + " of " +
                 std::to_string(found.equalities) + " whole" + (found.guarded ? ", where types stay" : "") +
                 (found.fails_above ? ", no proof with one more; " : "; ") + verdict.note;
}

}  // namespace

rules::StatusLine Verdict::line(const rules::RuleInfo& info) const {
  return {rule,
          status,
          rules::StatusTable::hash_of(info),
          proof.empty() ? "-" : rules::status_hash(proof),
          note,
          ranks,
          rules::kChecker,
          only};
}

Verdict verify_rule(const rules::RuleInfo& info, const VerifyOptions& options) {
  Verdict verdict;
  verdict.rule = info.name;
  verdict.family = info.family;
  const rules::RuleSet alone = rules::RuleSet::alone(info);
  const double start = thread_seconds();
  BoundedResult found;
  try {
    found = check_bounded(alone, 0, options.bounded);
  } catch (const Error& error) {
    verdict.note = std::string("no examples of its pattern can be made: ") + error.what();
    return verdict;
  } catch (const std::bad_alloc&) {
    verdict.note = "examples of its pattern do not fit into memory";
    return verdict;
  }
  verdict.bounded_seconds = thread_seconds() - start;
  verdict.refuted = found.outcome == BoundedResult::Outcome::refuted;
  verdict.note = in_words(found);
  if (options.stored_too) verdict.stored_problem = check_stored_proof(info, options.z3);
  if (verdict.refuted) return verdict;
  if (found.outcome == BoundedResult::Outcome::holds) verdict.status = RuleStatus::bounded_checked;
  if (found.grid_matches + found.random_matches == 0) {
    verdict.why_not_proved = "no example that decides anything matches";
    return verdict;
  }
  add_proof(alone, options, verdict);
  return verdict;
}

std::string check_stored_proof(const rules::RuleInfo& info, const std::string& z3) {
  const rules::StatusTable table = rules::StatusTable::load(info.file);
  const rules::StatusLine* line = table.find(info.name);
  if (!line || line->proof_hash == "-" || line->text_hash != rules::StatusTable::hash_of(info)) return {};
  const std::string* proof = table.proofs().find(info.name);
  if (!proof) return "its proof is missing";
  if (rules::status_hash(*proof) != line->proof_hash) return "its proof was changed";
  if (!all_unsat(run_smt(*proof))) return "its stored proof does not answer unsat";
  if (!z3.empty() && !all_unsat(run_z3_program(z3, *proof)))
    return "the z3 program does not confirm its stored proof";
  return {};
}

std::string run_z3_program(const std::string& program, const std::string& text) {
  const TempDir folder("regraft-z3");
  const std::filesystem::path input = folder.path() / "proof.smt2", output = folder.path() / "answers";
  write_file_atomic(input, text);
  const pid_t child = fork();
  if (child == 0) {
    const int out = open(output.c_str(), O_WRONLY | O_CREAT, S_IRUSR | S_IWUSR);
    dup2(out, STDOUT_FILENO);
    execlp(program.c_str(), program.c_str(), input.c_str(), static_cast<char*>(nullptr));
    _exit(kNotRun);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child ||
      (WIFEXITED(status) && WEXITSTATUS(status) == kNotRun))
    throw FileError("cannot be run", program, "give the path of a z3 program (Debian package z3)");
  return read_file(output);
}

std::vector<Verdict> verify_rules(const rules::RuleSet& rules, const std::vector<std::size_t>& numbers,
                                  const VerifyOptions& options,
                                  const std::function<void(const Verdict&)>& done) {
  std::vector<Verdict> verdicts(numbers.size());
  std::atomic<std::size_t> next = 0;
  Mutex reporting;
  std::exception_ptr problem;
  const auto work = [&] {
    for (std::size_t i = next++; i < numbers.size(); i = next++) {
      try {
        verdicts[i] = verify_rule(rules.info(numbers[i]), options);
        const MutexLock lock(reporting);
        done(verdicts[i]);
      } catch (...) {
        const MutexLock lock(reporting);
        problem = std::current_exception();
        next = numbers.size();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < options.jobs; ++i) threads.emplace_back(work);
    work();
  }
  if (problem) std::rethrow_exception(problem);
  return verdicts;
}

void write_statuses(const rules::RuleSet& rules, const std::vector<Verdict>& verdicts) {
  std::map<std::filesystem::path, rules::StatusTable> tables;  // by the file of their rules
  for (const Verdict& verdict : verdicts) {
    const std::size_t number = rules.find(verdict.rule).value();
    const rules::RuleInfo& info = rules.info(number);
    const auto [table, first] = tables.try_emplace(info.file);
    if (first) table->second = rules::StatusTable::load(info.file);
    table->second.proofs().set(verdict.rule, verdict.proof);
    table->second.set(verdict.line(info));
  }
  for (auto& [file, table] : tables) {
    std::set<std::string, std::less<>> there;
    for (std::size_t i = 0; i < rules.size(); ++i)
      if (rules.info(i).file == file) there.insert(rules.info(i).name);
    table.keep_only(there);
    table.save(file);
  }
}

}
