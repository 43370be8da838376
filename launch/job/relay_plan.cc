#include "launch/job/relay_plan.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "launch/job/launch_error.h"

namespace regraft::launch {
namespace {

std::filesystem::path plan_file(const learner::RunFolder& folder) {
  return folder.relays() / "plan";
}

std::string mark_of(const std::string& text) {
  return hash_text(text).hex();
}

std::optional<std::string> read_plan(const learner::RunFolder& folder) {
  try {
    return read_file(plan_file(folder));
  } catch (const FileError&) {
    return std::nullopt;
  }
}

}  // namespace

std::string relay_name(std::int64_t rank) {
  return "relay-" + std::to_string(rank);
}

RelayPlan make_relay_plan(const std::string& mode, std::span<const std::string> networks,
                          std::size_t first_actor) {
  std::map<std::string, std::vector<std::int64_t>> actors;  // ranks, by network
  for (std::size_t rank = first_actor; rank < networks.size(); ++rank)
    actors[networks[rank]].push_back(static_cast<std::int64_t>(rank));
  RelayPlan plan;
  for (const auto& [network, ranks] : actors) {
    const bool remote = network != networks.front() && ranks.size() > 1;
    if (mode != "all" && (mode != "remote" || !remote)) continue;
    for (const std::int64_t rank : ranks) plan[rank] = relay_name(ranks.front());
  }
  return plan;
}

std::string save_relay_plan(const learner::RunFolder& folder, const RelayPlan& plan) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [rank, relay] : plan) json[std::to_string(rank)] = relay;
  const std::string text = json.dump();
  std::filesystem::create_directories(folder.relays());
  write_file_atomic(plan_file(folder), text);
  return mark_of(text);
}

RelayPlan await_relay_plan(const learner::RunFolder& folder, const std::string& mark, const Clock& clock,
                           std::chrono::seconds patience) {
  constexpr std::chrono::milliseconds pause{20};
  const std::int64_t until_ns = clock.steady_ns() + patience.count() * nanoseconds_per_second;
  std::optional<std::string> text;
  while (!(text = read_plan(folder)) || mark_of(*text) != mark) {
    if (clock.steady_ns() >= until_ns)
      throw LaunchError((text ? "another plan of relays than rank 0's is there after "
                              : "rank 0's plan of relays is not there after ") +
                            std::to_string(patience.count()) + " s",
                        plan_file(folder).string(), "put the run folder where all machines see it");
    std::this_thread::sleep_for(pause);
  }
  RelayPlan plan;
  const auto json = nlohmann::json::parse(*text);
  for (const auto& [rank, relay] : json.items()) plan[std::stoll(rank)] = relay.get<std::string>();
  return plan;
}

}
