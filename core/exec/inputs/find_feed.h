#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/exec/inputs/feed.h"

namespace regraft::exec {

/// Processor time of this process. Sizes depend on it alone, so that they are the same on a busy machine.
double processor_seconds();

/// What the user says about how a model is fed.
struct FeedRequest {
  std::map<std::string, std::vector<std::int64_t>> bound =
      {};                                         // --bind: sizes of dims, the first counts most
  bool foreign = false;                           // names that no input has are left out of these
  std::vector<std::filesystem::path> files = {};  // --inputs
  std::uint64_t seed = 0;
  double seconds = 60;  // of looking for sizes, at most
  std::function<double()> clock = processor_seconds;
  bool several = true;  // other sizes beside the first, where the user names none
};

/// Finds sizes and inputs at which the model runs. Sizes are those that are bound, else those of the files.
/// Else they are the first at which the model runs, among usual sizes, sizes that its inputs declare, and its
/// own constants. Other sizes at which it is judged too come behind: further bound ones (the i-th of each dim
/// together), else the first ones times a quarter and times four, where it runs. Values of integer inputs are
/// those that the model's readers imply, else constants that run. Where nothing runs, the feed has no points
/// and says why; also for a model that the runtime cannot load. Runs the model in this process. Throws
/// UsageError for a bound name that is no dynamic dim, unless `foreign`, and ExecError for files that cannot
/// be read or do not fit. Throws what import_model throws.
Feed find_feed(const std::filesystem::path& model, const FeedRequest& request);

}
