#include "launch/optimise/result_check.h"

#include <string>
#include <utility>

#include "core/base/atomic_file.h"
#include "core/base/deadline.h"
#include "core/base/file.h"
#include "launch/call/not_equivalent_error.h"
#include "launch/graphs/log_replay.h"

namespace regraft::launch {

ChildCheck ResultCheck::options(bool bit_equal) const {
  ChildCheck check{feed_, options_.seed, bit_equal, options_.fixed};
  const auto used = [this](rules::RuleMark mark) {
    return report_.marks.contains(std::string(rules::mark_name(mark)));
  };
  check.finite = used(rules::RuleMark::finite);
  check.nonempty = used(rules::RuleMark::nonempty);
  if (!bit_equal) check.probe_s = ask_probe_s_();
  return check;
}

exec::EquivalenceReport ResultCheck::check(const std::filesystem::path& model, ChildCheck how) {
  if (!probe_s_) probe_s_ = how.probe_s;
  how.probe_s = probe_s_;
  const bool may_fail = !how.bit_equal && !options_.script;
  exec::EquivalenceReport report;
  try {
    return verify_in_child(options_.input, model, how);
  } catch (const CrashError& error) {
    if (!may_fail) throw;
    report.reason = "the check failed: " + error.problem();
  } catch (const exec::ExecError& error) {  // the original cannot be run as the check does
    if (!may_fail) throw;
    report.repeatable = false;
    report.reason = "it cannot be checked: " + std::string(error.what());
  }
  return report;
}

exec::EquivalenceReport ResultCheck::whole_model(bool bit_equal) {
  exec::EquivalenceReport report = check(output_.aside(), options(bit_equal));
  if (!report.equivalent && probe_s_ && !std::exchange(differed_, true)) *probe_s_ *= 2;
  report.reason = output_.spoken(report.reason);
  return report;
}

std::optional<Bisection> ResultCheck::bisect_entries(double seconds) {
  const TempDir folder;
  const LogReplay replay(options_.input, write_log(folder.path()), options_.rules);
  const Deadline end(seconds);
  ChildCheck how = options(false);
  how.verdict_only = true;
  const auto is_good = [&](const std::filesystem::path& model) { return check(model, how).equivalent; };
  constexpr int kLeastSteps = 2;  // whatever they take
  int steps = 0;
  return bisect_refused(replay, is_good,
                        [&] { return options_.script || steps++ < kLeastSteps || !end.is_over(); });
}

void ResultCheck::replay_log() const {
  const TempDir folder;
  if (!check_replay(options_.input, output_.aside(), write_log(folder.path()), options_.rules).identical)
    throw NotEquivalentError("the rewrite log does not replay to the same bytes", options_.input.string(),
                             "nothing was emitted; please report this");
}

std::filesystem::path ResultCheck::write_log(const std::filesystem::path& folder) const {
  const std::filesystem::path log = folder / "rewrites.log";
  write_file_atomic(log, log_.to_text());
  return log;
}

}
