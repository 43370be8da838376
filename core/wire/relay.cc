#include "core/wire/relay.h"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "core/base/log.h"
#include "core/base/mutex.h"
#include "core/wire/relay_book.h"
#include "core/wire/relay_file.h"
#include "core/wire/relay_totals.h"

namespace regraft::wire {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kPatience{20};  // for a result, before looking at the actors
constexpr Milliseconds kTicketPatience{200};
constexpr Milliseconds kPauseBeforeRetry{200};
constexpr std::int64_t kNanosecondsPerMillisecond = 1'000'000;
constexpr std::size_t kMaxKinds = 4;  // each has a link; what an actor calls its kind is its own choice
constexpr std::size_t kKnownGone = 64;
constexpr std::int64_t kLocateEveryNs = 500 * kNanosecondsPerMillisecond;

/// What a relay keeps over the learner's generations.
struct Kept {
  RelayFile run_file;
  RelayTotals totals;
  std::string first_kind;   // of actors: its link has the relay's name, and tells what the relay itself uses
  TransportCounters moved;  // by hubs and links that are gone; of links the CPU time alone
};

HubOptions hub_options(const RelayOptions& options, const RunInfo& run) {
  HubOptions hub = options.hub;
  hub.plain = run.server_key.empty();
  hub.server_keys = hub.plain ? KeyPair{} : options.upstream.keys;
  hub.dispatch.deterministic = false;  // what is lost waits in the book
  hub.dispatch.max_actors_per_connection = 1;
  // The learner's credit is the bound: whatever it has issued may go on.
  hub.dispatch.max_outstanding_bytes = ~std::uint64_t{0};
  return hub;
}

void check_stop(const std::stop_token& stopped) {
  if (stopped.stop_requested()) throw WireError(WireFault::kClosed, "asked to stop", "relay", "");
}

WireError no_run(const Error& error) {
  return {WireFault::kTimeout, std::string("no run was found: ") + error.what(), "relay",
          "is the learner running?"};
}

/// One generation of the learner.
class Session {
 public:
  Session(const RelayOptions& options, const RunInfo& run, Kept& kept, const Clock& clock,
          const std::stop_token& stopped)
      : options_(options),
        clock_(clock),
        stopped_(stopped),
        kept_(kept),
        book_(run.run_id, run.generation),
        located_ns_(clock.steady_ns()),
        hub_(
            hub_options(options, run), book_,
            [this](const ActorInfo& actor) { return book_.next(actor.kind); }, clock) {
    kept.run_file.save(hub_.run_info());
  }
  ~Session() {
    for (const auto& [kind, up] : upstream_links_) kept_.moved.cpu_ns += up->link.counters().cpu_ns;
    kept_.moved += hub_.counters();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The learner's next generation, when that has begun. Throws what ends a link; kClosed where a stop was
  /// asked for.
  std::uint64_t run() {
    for (;;) {
      check_stop(stopped_);
      if (auto delivery = hub_.take(kPatience)) forward(std::move(*delivery));
      look_at_actors();
      for (const auto& [kind, up] : upstream_links_)
        if (const std::uint64_t now = up->link.generation(); now != 0 && now != book_.generation())
          return now;
      const MutexLock lock(mutex_);
      if (failure_) std::rethrow_exception(failure_);
    }
  }

  void send_actors_away() { hub_.stop(); }

 private:
  /// To the learner, for the actors of one kind.
  struct UpstreamLink {
    UpstreamLink(const LinkOptions& options, const Clock& clock) : link(options, clock) {}
    Link link;
    std::int64_t needed_ns = 0;  // when there was an actor last
    std::jthread thread;
  };

  void look_at_actors() {
    std::map<std::string, std::uint32_t> counts;
    const std::vector<ActorStatus> actors = hub_.status().actors;
    for (const ActorStatus& actor : actors) {
      if (!has_link(actor.info.kind)) continue;
      ++counts[actor.info.kind];
      kept_.totals.see(actor.info, {actor.policy_steps, actor.process_cpu_ns, actor.wire_cpu_ns});
    }
    const std::int64_t now_ns = clock_.steady_ns();
    for (auto it = upstream_links_.begin(); it != upstream_links_.end();) {
      const auto here = it++;
      auto& [kind, up] = *here;
      const std::uint32_t count = counts.contains(kind) ? counts[kind] : 0;
      if (count > 0) up->needed_ns = now_ns;
      tell(kind, up->link, count, actors.size());
      if (now_ns - up->needed_ns > options_.idle_ms * kNanosecondsPerMillisecond) give_back(here);
    }
    for (const auto& [kind, ticket] : book_.take_refused()) send_unusable(kind, ticket);
    if (upstream_links_.empty())
      check_that_the_run_goes_on(now_ns);
    else
      located_ns_ = now_ns;
  }

  /// Whether actors of this kind have a link, from now on at the latest.
  bool has_link(const std::string& kind) {
    if (upstream_links_.contains(kind)) return true;
    if (upstream_links_.size() < kMaxKinds) {
      connect(kind);
      return true;
    }
    if (!std::exchange(told_of_kinds_, true))
      log_warning("actors of kind {} get no work: a relay takes {} kinds at a time", kind, kMaxKinds);
    return false;
  }

  void connect(const std::string& kind) {
    LinkOptions link = options_.upstream;
    if (kept_.first_kind.empty()) kept_.first_kind = kind;
    if (kind != kept_.first_kind) link.actor += "." + kind;
    link.kind = kind;
    link.tickets_wanted = 1;  // until it is said how many actors there are
    link.of_relay = true;
    link.stopped = stopped_;
    auto up = std::make_unique<UpstreamLink>(link, clock_);
    up->thread =
        std::jthread([this, kind, &of = up->link](const std::stop_token& stop) { follow(stop, kind, of); });
    upstream_links_[kind] = std::move(up);
  }

  void tell(const std::string& kind, Link& link, std::uint32_t count, std::size_t connections) {
    RelayedActors relayed;
    relayed.work = kept_.totals.of_kind(kind);
    relayed.actors = std::max<std::uint32_t>(count, 1);
    relayed.tickets_wanted = count * options_.hub.dispatch.max_tickets_per_actor;
    if (kind == kept_.first_kind) {
      TransportCounters moved = kept_.moved;
      moved += hub_.counters();
      relayed.work.cpu_ns += process_cpu_ns();
      relayed.work.wire_cpu_ns += moved.cpu_ns;
      relayed.traffic = {static_cast<std::uint32_t>(connections), moved.bytes_in, moved.bytes_out};
    }
    link.stand_for(relayed);
  }

  /// To the learner, for which they are lost, as the link leaves.
  void give_back(std::map<std::string, std::unique_ptr<UpstreamLink>>::iterator up) {
    const std::string kind = up->first;
    kept_.moved.cpu_ns += up->second->link.counters().cpu_ns;
    upstream_links_.erase(up);
    for (const Ticket& ticket : book_.forget(kind)) hub_.decide(ticket, Verdict::kLate);
  }

  void check_that_the_run_goes_on(std::int64_t now_ns) {
    if (now_ns - looked_ns_ < kLocateEveryNs) return;
    looked_ns_ = now_ns;
    try {
      options_.upstream.locate();
      located_ns_ = now_ns;
    } catch (const Error& error) {
      // The run file may be missing while the learner restarts.
      const auto* wire = dynamic_cast<const WireError*>(&error);
      if (wire != nullptr && wire->fault() == WireFault::kClosed) throw;
      if (now_ns - located_ns_ >= options_.upstream.give_up_after_ms * kNanosecondsPerMillisecond)
        throw no_run(error);
    }
  }

  void forward(Delivery delivery) {
    book_.deliver(delivery.ticket.id);
    const auto up = upstream_links_.find(delivery.actor.kind);
    std::uint64_t& steps = delivery.parts.back().header.policy_steps;
    kept_.totals.see(delivery.actor, {.policy_steps = steps});
    steps = kept_.totals.of_kind(delivery.actor.kind).policy_steps;
    if (up == upstream_links_.end() ||
        !up->second->link.send_whole(delivery.ticket, std::move(delivery.parts)))
      hub_.decide(delivery.ticket, Verdict::kLate);
  }

  /// What the hub refused gets the learner's verdict too: it reads nothing in this.
  void send_unusable(const std::string& kind, const Ticket& ticket) {
    const auto up = upstream_links_.find(kind);
    if (up != upstream_links_.end())
      up->second->link.send(ticket, {.weight_version = ticket.weight_version}, {});
  }

  void follow(const std::stop_token& stop, const std::string& kind, Link& link) try {
    while (!stop.stop_requested()) {
      if (!link.wait(kTicketPatience)) continue;
      while (const auto ack = link.next_ack(Milliseconds(0))) pass_on(*ack);
      while (const auto ticket = link.next_ticket(Milliseconds(0))) pass_on(kind, link, *ticket);
    }
  } catch (...) {
    const MutexLock lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }

  void pass_on(const Ack& ack) {
    if (!book_.acknowledge(ack.ticket)) return;
    Ticket ticket;
    ticket.id = ack.ticket;
    const bool gone = ack.verdict == Verdict::kLost || ack.verdict == Verdict::kDropped;
    hub_.decide(ticket, gone ? Verdict::kLate : ack.verdict);
  }

  void pass_on(const std::string& kind, Link& link, const Ticket& ticket) {
    if (ticket.generation != book_.generation()) return;  // the next hub's time has come
    if (ticket.weight_version > 0) fetch(link, ticket.weight_version);
    book_.add(kind, ticket);
    hub_.wake();
  }

  /// Once a version: who wants the same one waits. An actor takes the latest where one is gone.
  void fetch(Link& link, std::uint64_t version) {
    const MutexLock lock(fetching_);
    if (fetched_.contains(version) || (!gone_.contains(version) && try_fetch(link, version))) return;
    if (!fetched_.contains(link.latest().version)) try_fetch(link, 0);
  }

  bool try_fetch(Link& link, std::uint64_t version) REQUIRES(fetching_) {
    try {
      Weights weights = link.fetch(version);
      hub_.pass_on(weights.info.version, std::move(weights.bytes));
      fetched_.insert(weights.info.version);
      if (fetched_.size() > WeightsStore::kKept) fetched_.erase(fetched_.begin());
      return true;
    } catch (const WireError& error) {
      // A learner that is killed takes the request with it.
      if (error.fault() != WireFault::kGone && error.fault() != WireFault::kTimeout) throw;
      log_warning("weights {}: {}", version, error.what());
      if (error.fault() == WireFault::kGone) gone_.insert(version);
      if (gone_.size() > kKnownGone) gone_.erase(gone_.begin());
      return false;
    }
  }

  const RelayOptions& options_;
  const Clock& clock_;
  const std::stop_token stopped_;
  Kept& kept_;
  RelayBook book_;
  Mutex fetching_;
  std::set<std::uint64_t> fetched_ GUARDED_BY(fetching_);  // versions that the hub has
  std::set<std::uint64_t> gone_ GUARDED_BY(fetching_);     // versions that the learner has no more
  Mutex mutex_;
  std::exception_ptr failure_ GUARDED_BY(mutex_);
  bool told_of_kinds_ = false;
  std::int64_t looked_ns_ = 0;
  std::int64_t located_ns_;  // when the run was there last
  Hub hub_;
  std::map<std::string, std::unique_ptr<UpstreamLink>>
      upstream_links_;  // by kind of actor; last: its threads use the rest
};

/// The run, once there is one: its file may be missing while the learner starts.
RunInfo await_run(const LinkOptions& options, const Clock& clock, const std::stop_token& stopped) {
  const std::int64_t until_ns = clock.steady_ns() + options.connect_timeout_ms * kNanosecondsPerMillisecond;
  for (bool told = false;;) {
    check_stop(stopped);
    try {
      return options.locate();
    } catch (const Error& error) {
      const auto* wire = dynamic_cast<const WireError*>(&error);
      if (wire != nullptr && wire->fault() == WireFault::kClosed) throw;
      if (clock.steady_ns() >= until_ns) throw no_run(error);
      if (!std::exchange(told, true))
        log_info("waits {:g} s at most for a learner: {}", options.connect_timeout_ms / 1e3, error.what());
    }
    std::this_thread::sleep_for(kPauseBeforeRetry);
  }
}

/// Whether the run is over for the actors too. After other faults the relay may be started again.
bool ends_the_run(WireFault fault) {
  return fault == WireFault::kClosed || fault == WireFault::kKey || fault == WireFault::kRefused ||
         fault == WireFault::kTimeout;
}

}  // namespace

void run_relay(const RelayOptions& options, const Clock& clock, const std::stop_token& stopped) {
  Kept kept{RelayFile(options.run_file), {}, {}, {}};
  std::unique_ptr<Session> session;
  try {
    for (std::uint64_t generation = 0;;) {
      RunInfo run = await_run(options.upstream, clock, stopped);
      // A URL does not follow restarts.
      run.generation = generation = std::max(generation, run.generation);
      session.reset();  // the next one has its place
      session = std::make_unique<Session>(options, run, kept, clock, stopped);
      generation = session->run();
    }
  } catch (const WireError& error) {
    if (!ends_the_run(error.fault())) throw;
    kept.run_file.remove();
    if (session) session->send_actors_away();
    if (error.fault() != WireFault::kClosed) throw;
    log_info("ends: {}", error.what());
  }
}

}
