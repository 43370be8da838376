#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launch/job/launch_error.h"

namespace regraft::launch {

/// Whether a launcher (mpirun, srun) started this process as one of several ranks, by the variables it sets.
bool started_by_mpi();

/// A rank of an MPI job: roles and one exchange, nothing else. MPI itself is in a shared library beside the
/// program that is loaded here. Throws LaunchError when it is missing, or when the launcher belongs to
/// another MPI than the one that it was built with. The destructor finalises, which waits for all ranks.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Every rank's text, on rank 0; nothing on the others. At most 4095 bytes each.
  std::vector<std::string> gather(const std::string& text);
  /// Rank 0's text, on every rank.
  std::string broadcast(const std::string& text);

 private:
  struct Plugin;
  std::unique_ptr<Plugin> plugin_;
  int rank_ = 0;
  int size_ = 1;
};

}
