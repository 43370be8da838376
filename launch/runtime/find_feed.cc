#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/json_text.h"
#include "core/base/last_words.h"
#include "launch/command/add_feed_options.h"
#include "launch/runtime/commands.h"

namespace regraft::launch {
namespace {

struct FindFeedArguments {
  std::filesystem::path model;
  FeedOptions feed;
  std::uint64_t seed = 0;
};

/// Sizes that take all of the machine's memory are no sizes to run at: they fail here, not by the system's
/// hand. AddressSanitizer maps terabytes that it never touches, and would fail at once.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__)
  const double physical =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, static_cast<rlim_t>(physical * 0.75));
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

/// A model need not end at any sizes, nor need the runtime end to load it.
void limit_time() {
  constexpr rlim_t kLongest_s = 600;
  rlimit limit{};
  if (getrlimit(RLIMIT_CPU, &limit) != 0) return;
  limit.rlim_cur = std::min({limit.rlim_cur, limit.rlim_max, kLongest_s});
  set_last_words(SIGXCPU, "regraft: the model is not loaded and run within " +
                              std::to_string(limit.rlim_cur) + " s of processor time");
  setrlimit(RLIMIT_CPU, &limit);
}

nlohmann::json error_json(const Error& error, bool usage) {
  return {
      {"problem", error.problem()}, {"where", error.where()}, {"remedy", error.remedy()}, {"usage", usage}};
}

/// The feed, or the error that keeps it from being found, for feed_in_child.
nlohmann::json find_or_explain(const FindFeedArguments& options) {
  try {
    return {{"feed", exec::to_json(exec::find_feed(options.model, to_request(options.feed, options.seed)))}};
  } catch (const UsageError& error) {
    return {{"error", error_json(error, true)}};
  } catch (const Error& error) {
    return {{"error", error_json(error, false)}};
  }
}

}  // namespace

void add_find_feed(Command& program, Action& action) {
  auto options = std::make_shared<FindFeedArguments>();
  Command* command = program.add_subcommand("find-feed", "how a model is fed, as JSON");
  command->hide();  // started by other commands; not for people
  command->add_option("MODEL", options->model)->required();
  add_feed_options(*command, options->feed);
  command->add_flag("--foreign", options->feed.foreign, "leave bindings of other dims out");
  command->add_option("--seed", options->seed);
  command->callback([options, &action] {
    action = [options] {
      limit_memory();
      limit_time();
      std::cout << json_text(find_or_explain(*options)) << std::endl;
      return static_cast<int>(kDone);
    };
  });
}

}
