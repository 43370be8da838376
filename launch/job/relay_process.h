#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "learner/job/run_folder.h"

namespace regraft::launch {

struct RelayPlace {
  std::string join;  // run file or URL of the learner
  learner::RunFolder folder;
  std::filesystem::path key;   // its key pair
  std::filesystem::path file;  // written for its actors
  std::string name;
  std::string address;            // where it listens for actors, beside ipc
  std::uint64_t incarnation = 0;  // of one that is started by hand, and tells what it does
};

/// A relay's worker process (core/wire/relay.h), to the end of the run: an exit code. SIGTERM and SIGINT end
/// it, and its actors.
int run_relay_process(const RelayPlace& place);

}
