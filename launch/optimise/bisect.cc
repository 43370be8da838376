#include "launch/optimise/bisect.h"

#include <cstdio>

#include "core/base/error.h"
#include "core/base/process.h"

namespace regraft::launch {

Bisection bisect(std::size_t count, const std::function<bool(std::size_t)>& good_after,
                 const std::function<bool()>& goes_on) {
  Bisection known{0, count};
  while (known.bad - known.good > 1 && goes_on()) {
    const std::size_t middle = known.good + (known.bad - known.good) / 2;
    (good_after(middle) ? known.good : known.bad) = middle;
  }
  return known;
}

std::optional<std::size_t> first_bad_step(std::size_t count,
                                          const std::function<bool(std::size_t)>& good_after) {
  if (!good_after(0))
    throw UsageError("the check fails before the first rewrite", "bisect",
                     "give a check that the original passes");
  if (good_after(count)) return std::nullopt;
  return bisect(count, good_after, [] { return true; }).culprit();
}

std::optional<std::size_t> bisect_log(const LogReplay& replay, const std::string& command) {
  const TempDir folder("regraft_bisect");
  const auto model = folder.path() / replay.model().path().filename();
  return first_bad_step(replay.log().entries.size(), [&](std::size_t count) {
    replay.write_prefix(count, model);
    Child check({.argv = {"/bin/sh", "-c", command + " \"$1\"", "sh", model.string()}});
    const ExitStatus status = check.wait();
    std::fprintf(stderr, "regraft: after %zu rewrites: %s\n", count,
                 status.ok() ? "good" : ("bad (" + status.describe() + ")").c_str());
    return status.ok();
  });
}

std::optional<Bisection> bisect_refused(const LogReplay& replay,
                                        const std::function<bool(const std::filesystem::path&)>& is_good,
                                        const std::function<bool()>& goes_on) {
  const TempDir folder("regraft_bisect");
  const auto good_after = [&](std::size_t count) {
    const auto model = folder.path() / replay.model().path().filename();
    replay.write_prefix(count, model);
    return is_good(model);
  };
  const std::size_t all = replay.log().entries.size();
  if (all == 0 || !good_after(0)) return std::nullopt;
  const Bisection known = bisect(all, good_after, goes_on);
  if (known.culprit() == all - 1 && good_after(all)) return std::nullopt;
  return known;
}

}
