#include "launch/optimise/aside_folder.h"

#include <signal.h>
#include <sys/stat.h>

#include <system_error>

namespace regraft::launch {

namespace fs = std::filesystem;

AsideFolder::AsideFolder(const fs::path& beside)
    : folder_(".regraft", beside),
      signals_(
          {SIGINT, SIGTERM, SIGHUP}, [this](int signal) { end_by(signal); }, SignalWatch::After::as_before) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::chmod(path().c_str(), 0777 & ~mask);
}

void AsideFolder::end_by(int signal) {
  const MutexLock held(removing_);
  std::error_code ignored;
  // The work goes on meanwhile and may put another file there.
  for (int tries = 0; tries < 10 && fs::exists(path(), ignored); ++tries) fs::remove_all(path(), ignored);
  end_process_by(signal);
}

}
