#include <benchmark/benchmark.h>

#include <optional>
#include <thread>

#include "core/base/file.h"
#include "core/wire/hub.h"
#include "core/wire/ledger.h"
#include "core/wire/link.h"

// One actor that answers tickets as fast as it can, and a learner that takes, admits and journals. Everything
// is in one process, so cpu_share counts both ends.

namespace regraft::wire {
namespace {

enum Security : std::int64_t { kPlain, kCurve };
enum Transport : std::int64_t { kIpc, kTcp };

struct Rig {
  Rig(Security security, Transport transport, std::size_t payload_bytes) : payload(payload_bytes) {
    HubOptions options;
    options.plain = security == kPlain;
    options.server_keys = options.plain ? KeyPair{} : make_key_pair();
    options.authorised = folder.path() / "keys";
    options.bind = {transport == kIpc ? "ipc://" + (folder.path() / "hub").string() : "tcp://127.0.0.1:*"};
    options.dispatch.max_tickets_per_actor = 16;
    LinkOptions actor;
    actor.keys = make_key_pair();
    AuthorisedKeys(options.authorised).add("actor", actor.keys.public_key);
    hub.emplace(
        options, ledger, [](const ActorInfo&) { return TicketSpec{}; }, clock);
    actor.locate = [info = hub->run_info()] { return info; };
    actor.actor = "actor";
    actor.tickets_wanted = 16;
    link.emplace(actor, clock);
    worker = std::jthread([this](const std::stop_token& stop) { act(stop); });
  }
  ~Rig() { stop(); }
  void stop() {
    worker.request_stop();
    if (worker.joinable()) worker.join();
  }

  // The frames share one block: what is measured is the transport, not the filling of buffers.
  void act(const std::stop_token& stop) {
    const auto block = std::make_shared<const std::vector<std::byte>>(payload);
    while (!stop.stop_requested()) {
      const auto ticket = link->next_ticket(std::chrono::milliseconds(10));
      if (!ticket) continue;
      std::vector<Frame> frames;
      frames.push_back(Frame::view_of(block, *block));
      link->send(*ticket, {}, std::move(frames));
    }
  }

  std::size_t payload;
  TempDir folder;
  SystemClock clock;
  Ledger ledger{folder.path() / "journal", "bench"};
  std::optional<Hub> hub;
  std::optional<Link> link;
  std::jthread worker;
};

void BM_Results(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(2));
  Rig rig(static_cast<Security>(state.range(0)), static_cast<Transport>(state.range(1)), bytes);
  rig.hub->take(std::chrono::seconds(10));  // joined and running
  const std::uint64_t process_before = process_cpu_ns();
  const std::uint64_t wire_before = rig.hub->counters().cpu_ns + rig.link->counters().cpu_ns;
  for (auto _ : state) {
    const auto delivery = rig.hub->take(std::chrono::seconds(10));
    if (!delivery) {
      state.SkipWithError("no result came");
      break;
    }
    rig.hub->decide(delivery->ticket, Verdict::kAdmitted);
  }
  const std::uint64_t wire = rig.hub->counters().cpu_ns + rig.link->counters().cpu_ns - wire_before;
  const auto process = static_cast<double>(process_cpu_ns() - process_before);
  const auto results = static_cast<std::int64_t>(state.iterations());
  state.SetBytesProcessed(results * static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(results);
  state.counters["wire_us_per_result"] = static_cast<double>(wire) / 1e3 / static_cast<double>(results);
  state.counters["cpu_share"] = static_cast<double>(wire) / process;
}

BENCHMARK(BM_Results)
    ->ArgNames({"curve", "tcp", "bytes"})
    ->ArgsProduct({{kPlain, kCurve}, {kIpc, kTcp}, {1 << 10, 64 << 10, 1 << 20}})
    ->MinTime(1.0)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void BM_FetchWeights(benchmark::State& state) {
  Rig rig(static_cast<Security>(state.range(0)), kIpc, 1 << 10);
  rig.stop();
  const auto bytes = static_cast<std::size_t>(state.range(1));
  rig.hub->publish(1, std::vector<std::byte>(bytes));
  for (auto _ : state) benchmark::DoNotOptimize(rig.link->fetch(1).bytes.data());
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(bytes));
}

BENCHMARK(BM_FetchWeights)
    ->ArgNames({"curve", "bytes"})
    ->ArgsProduct({{kPlain, kCurve}, {1 << 20, 16 << 20}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void BM_JournalledTicket(benchmark::State& state) {
  const TempDir folder;
  Ledger ledger(folder.path() / "journal", "bench");
  for (auto _ : state) ledger.close(ledger.issue({}).id, Verdict::kAdmitted);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

BENCHMARK(BM_JournalledTicket)->Unit(benchmark::kMicrosecond);

}  // namespace
}
