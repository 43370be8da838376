#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/search/search.h"
#include "core/search/search_run.h"

namespace regraft::search {

/// Tries of a search side by side, each from the search's present place, on copies of its state that have
/// Tables of their own. What comes of them is what trying them one after another gives, on any number of
/// threads: the first that succeeds counts, those before it count, and what was begun behind it does not.
/// Where the system gives fewer threads, it goes on with those; with none, on the caller's own.
class Scouts {
 public:
  /// Goes ahead with try number `at`, counting in `run`. True: it succeeded, and `state` is where it led.
  /// False: `state` is as it was. Reads nothing that another thread changes.
  using Try = std::function<bool(SearchRun& run, env::RewriteState& state, std::size_t at)>;

  /// Starts a thread that does `work`. Throws std::system_error where the system gives none.
  using StartThread = std::function<std::jthread(std::function<void()> work)>;

  /// Problem and context outlive it. `start_thread`: another way than std::jthread.
  Scouts(const SearchProblem& problem, const SearchContext& context, StartThread start_thread = {});
  ~Scouts();

  /// Makes the tries from 0 to `count` - 1 until one succeeds. Whether one did: then `state` is where it led.
  bool any_of(SearchRun& run, env::RewriteState& state, std::size_t count, const Try& attempt);

 private:
  struct Scout;

  /// The same on all threads, until a try does not fit into the limits any more: that is number `at` then.
  bool side_by_side(SearchRun& run, env::RewriteState& state, std::size_t count, const Try& attempt,
                    std::size_t& at);

  const SearchProblem& problem_;
  const SearchContext& context_;
  const StartThread start_thread_;
  std::vector<std::unique_ptr<Scout>> scouts_;  // made where they are first needed; one: none is needed
};

}
