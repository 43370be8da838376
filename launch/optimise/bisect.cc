#include "launch/optimise/bisect.h"

#include <cstdio>

#include "core/base/error.h"
#include "core/base/process.h"

namespace regraft::launch {

std::optional<std::size_t> first_bad_step(std::size_t count,
                                          const std::function<bool(std::size_t)>& good_after) {
  if (!good_after(0))
    throw UsageError("the check fails before the first rewrite", "bisect",
                     "give a check that the original passes");
  if (good_after(count)) return std::nullopt;
  std::size_t good = 0, bad = count;
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    (good_after(middle) ? good : bad) = middle;
  }
  return bad - 1;
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

}
