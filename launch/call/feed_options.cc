#include "launch/call/feed_options.h"

#include "core/exec/runtime/exec_error.h"
#include "core/task/bindings.h"

namespace regraft::launch {

exec::FeedRequest to_request(const FeedOptions& options, std::uint64_t seed) {
  exec::FeedRequest request;
  request.bound = task::parse_size_lists(options.bindings);
  request.foreign = options.foreign;
  request.files = options.inputs;
  request.seed = seed;
  return request;
}

exec::Feed feed_of(const std::filesystem::path& model, const FeedOptions& options, std::uint64_t seed) {
  exec::Feed feed =
      options.feed ? exec::load_feed(*options.feed) : exec::find_feed(model, to_request(options, seed));
  if (!feed.runs()) throw exec::ExecError(feed.problem, model, feed.remedy);
  return feed;
}

std::string describe_sizes(const exec::Feed& feed) {
  if (feed.taken.empty()) return "";
  std::string text = "sizes: " + feed.describe();
  for (std::size_t i = 1; i < feed.points.size(); ++i)
    text += (i == 1 ? "; too: " : "; ") + feed.points[i].describe();
  return text;
}

}
