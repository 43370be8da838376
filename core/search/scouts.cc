#include "core/search/scouts.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <optional>
#include <span>
#include <stop_token>
#include <system_error>
#include <utility>

namespace regraft::search {
namespace {

/// Rewrites of `path` from the start, on a state that stands somewhere else.
void go_to(env::RewriteState& state, std::span<const rules::Match> path) {
  state.rewind_to(
      static_cast<std::size_t>(std::ranges::mismatch(state.path(), path).in1 - state.path().begin()));
  for (const rules::Match& match : path.subspan(state.depth())) state.apply(match);
}

/// Are called back before they are waited for, however the scope is left.
struct Threads {
  std::atomic<std::size_t>& next;
  std::size_t end;
  std::stop_source& stop;
  std::vector<std::jthread> all{};

  ~Threads() {
    next = end;
    stop.request_stop();
  }
};

struct Outcome {
  SearchRun run;
  bool succeeded = false;
  std::vector<rules::Match> path;  // where it led
};

}  // namespace

struct Scouts::Scout {
  explicit Scout(const SearchProblem& problem)
      : tables(problem.start.tables()),
        start(problem.start, tables),
        state(start, problem.rules, problem.costs) {}

  graph::Tables tables;
  graph::Graph start;
  env::RewriteState state;
};

Scouts::Scouts(const SearchProblem& problem, const SearchContext& context, StartThread start_thread)
    : problem_(problem),
      context_(context),
      start_thread_(start_thread ? std::move(start_thread)
                                 : [](std::function<void()> work) { return std::jthread(std::move(work)); }),
      scouts_(std::max<std::size_t>(context.threads, 1)) {}

Scouts::~Scouts() = default;

bool Scouts::any_of(SearchRun& run, env::RewriteState& state, std::size_t count, const Try& attempt) {
  std::size_t at = 0;
  if (scouts_.size() > 1 && count > 1 && side_by_side(run, state, count, attempt, at)) return true;
  for (; at < count; ++at)
    if (attempt(run, state, at)) return true;
  return false;
}

bool Scouts::side_by_side(SearchRun& run, env::RewriteState& state, std::size_t count, const Try& attempt,
                          std::size_t& at) {
  std::stop_source stop;
  const std::stop_callback passes_on(context_.stop, [&] { stop.request_stop(); });
  const SearchContext context{context_.clock, {}, stop.get_token()};
  const SearchRun none_yet = run.part(context, state);
  std::vector<std::promise<Outcome>> outcomes(count);
  std::atomic<std::size_t> next = 0;
  const auto go_ahead = [&](std::unique_ptr<Scout>& scout) {
    for (std::size_t mine = next++; mine < count; mine = next++) {
      try {
        if (!scout) scout = std::make_unique<Scout>(problem_);
        go_to(scout->state, state.path());
        Outcome outcome{none_yet.part(context, scout->state), false, {}};
        outcome.succeeded = attempt(outcome.run, scout->state, mine);
        outcome.path.assign(scout->state.path().begin(), scout->state.path().end());
        outcomes[mine].set_value(std::move(outcome));
      } catch (...) {
        outcomes[mine].set_exception(std::current_exception());
      }
    }
  };
  std::optional<std::vector<rules::Match>> led_to;
  {
    Threads threads{next, count, stop};
    try {
      for (std::unique_ptr<Scout>& scout : scouts_)
        threads.all.push_back(start_thread_([&scout, &go_ahead] { go_ahead(scout); }));
    } catch (const std::system_error&) {  // with those that there are
      if (threads.all.empty()) return false;
    }
    for (; at < count && !led_to; ++at) {
      Outcome outcome = outcomes[at].get_future().get();
      if (!run.has_room_for(outcome.run)) break;
      run.absorb(std::move(outcome.run));
      if (outcome.succeeded) led_to = std::move(outcome.path);
    }
  }
  if (led_to) go_to(state, *led_to);
  return led_to.has_value();
}

}
