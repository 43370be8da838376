#include "launch/job/join_run.h"

#include "core/base/log.h"
#include "core/base/named_by_config.h"
#include "core/wire/wire_error.h"
#include "launch/call/exit_code.h"

namespace regraft::launch {

namespace fs = std::filesystem;

void require_run(const learner::RunFolder& folder) {
  if (!fs::exists(folder.run_id()))
    throw UsageError("there is no run", folder.root.string(),
                     "give --run the folder of a run that `regraft train` began");
}

learner::RunFolder folder_of(const std::string& join, const std::optional<fs::path>& run) {
  if (!run && join.starts_with("regraft://"))
    throw UsageError("a URL does not say where the run's config lies", "--join", "give --run FOLDER too");
  if (fs::is_directory(join))
    throw UsageError("is a folder", "--join " + join,
                     "name its run file, " + learner::RunFolder{join}.run_file().string());
  const learner::RunFolder beside{run ? *run : fs::absolute(join).parent_path()};
  const learner::RunFolder above{beside.root.parent_path()};
  const learner::RunFolder& folder = !run && above.relays() == beside.root ? above : beside;
  require_run(folder);
  return folder;
}

std::function<wire::RunInfo()> locate_run(const std::string& join, const learner::RunFolder& folder,
                                          const std::stop_token& stopped) {
  return [=] {
    if (stopped.stop_requested())
      throw wire::WireError(wire::WireFault::kClosed, "asked to stop", folder.root.string(), "");
    if (fs::exists(folder.summary()))
      throw wire::WireError(wire::WireFault::kClosed, "the run has ended", folder.root.string(), "");
    return wire::RunInfo::from_url_or_file(join);
  };
}

int work_in_run(const learner::RunFolder& folder, const std::function<void()>& work) {
  try {
    work();
  } catch (const wire::WireError& error) {
    // A worker that starts late may look for a learner that has finished.
    if (error.fault() == wire::WireFault::kClosed || fs::exists(folder.summary())) {
      log_info("ends: {}", error.what());
      return kDone;
    }
    const bool for_good = error.fault() == wire::WireFault::kKey ||
                          error.fault() == wire::WireFault::kRefused ||
                          error.fault() == wire::WireFault::kTimeout;
    if (!for_good) throw;
    log_error("{}", error.what());
    return kForGood;
  }
  return kDone;
}

}
