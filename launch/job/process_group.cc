#include "launch/job/process_group.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/wire/keys.h"
#include "core/wire/run_info.h"
#include "launch/call/exit_code.h"
#include "launch/job/job_config.h"
#include "launch/job/phases.h"
#include "launch/job/relay_plan.h"
#include "learner/job/learner_group.h"

namespace regraft::launch {
namespace {

WorkerSpec learner_spec(const learner::RunFolder& folder) {
  return {"learner", {program_path(), "learner", "--run", folder.root.string()}, true};
}

/// How many learners share the updates of the first one.
std::int64_t peers_in(const Config& config) {
  return config.integer("train.learners") - 1;
}

std::int64_t dreaming_in(const Config& config) {
  return job_phase(config).dreaming_kind.empty() ? 0 : actor_options().from(config).dreaming;
}

/// The first actors dream, as many as the config says, in phases that have such; the others play real
/// environments.
WorkerSpec actor_spec(const learner::RunFolder& folder, const std::string& name, std::int64_t number,
                      const std::filesystem::path& key, const std::string& relay) {
  const Config config = load_run_config(folder);
  const JobPhase& phase = job_phase(config);
  const auto kind = number <= dreaming_in(config) ? phase.dreaming_kind : phase.actor_kind;
  const auto join = relay.empty() ? folder.run_file() : folder.relay_file(relay);
  return {name,
          {program_path(), "actor", "--join", join.string(), "--run", folder.root.string(), "--key",
           key.string(), "--name", name, "--kind", std::string(kind)},
          false};
}

WorkerSpec peer_spec(const learner::RunFolder& folder, std::int64_t rank, const std::filesystem::path& key) {
  return {"learner-" + std::to_string(rank),
          {program_path(), "learner", "--run", folder.root.string(), "--rank", std::to_string(rank), "--key",
           key.string()}};
}

WorkerSpec relay_spec(const learner::RunFolder& folder, const std::string& name,
                      const std::filesystem::path& key) {
  return {name,
          {program_path(), "relay", "--join", folder.run_file().string(), "--run", folder.root.string(),
           "--key", key.string(), "--name", name}};
}

/// What the process below rank 1 and higher does: the first of them learn too, the others act.
WorkerSpec worker_spec(const learner::RunFolder& folder, const std::string& name, std::int64_t rank,
                       const std::filesystem::path& key, const std::string& relay) {
  const std::int64_t peers = peers_in(load_run_config(folder));
  return rank <= peers ? peer_spec(folder, rank, key) : actor_spec(folder, name, rank - peers, key, relay);
}

/// Files of the key pairs of a rank.
struct RankKeys {
  std::filesystem::path worker, relay;
};

// What a rank says of itself, and rank 0 of a run.
constexpr char kNetwork[] = "network", kKey[] = "key", kRelayKey[] = "relay_key", kRelayPlan[] = "relay_plan";

/// Which relay the actor below a rank joins; none: the learner itself.
std::string relay_of(const nlohmann::json& word, const learner::RunFolder& folder, std::int64_t rank,
                     const Clock& clock) {
  if (!word.contains(kRelayPlan)) return "";
  const RelayPlan plan = await_relay_plan(folder, word.at(kRelayPlan).get<std::string>(), clock);
  return plan.contains(rank) ? plan.at(rank) : "";
}

/// How a rank's work ended: with all others, or by itself, which ends the job.
struct RankOutcome {
  int code = kFailed;
  bool together = false;
};

/// Actors of the runs that rank 0 names, one after another.
RankOutcome follow_runs(MpiSession& mpi, const std::string& name, const RankKeys& keys) {
  const SystemClock clock;
  for (bool asked_to_stop = false;;) {
    const auto word = nlohmann::json::parse(mpi.broadcast(""));
    if (word.contains("failed")) return {kUsage, true};  // rank 0 says why
    if (!word.contains("run")) return {kDone, true};
    const learner::RunFolder folder{word.at("run").get<std::string>()};
    if (asked_to_stop) {  // rank 0 may hear of it only now
      std::fprintf(stderr, "regraft: rank %d was asked to stop: no actor of it plays in %s\n", mpi.rank(),
                   folder.root.c_str());
      continue;
    }
    const std::string relay = relay_of(word, folder, mpi.rank(), clock);
    std::vector<WorkerSpec> workers{worker_spec(folder, name, mpi.rank(), keys.worker, relay)};
    if (relay == relay_name(mpi.rank())) workers.push_back(relay_spec(folder, relay, keys.relay));
    Supervisor supervisor(std::move(workers), supervisor_options(), clock);
    if (const int code = supervisor.run(); code != 0) return {code, false};
    asked_to_stop = supervisor.asked_to_stop();
  }
}

}  // namespace

SupervisorOptions supervisor_options() {
  SupervisorOptions options;
  options.report = [](const std::string& line) { std::fprintf(stderr, "regraft: %s\n", line.c_str()); };
  return options;
}

std::string program_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

ActorCount LocalProcessGroup::actors(const Config& config) const {
  return {dreaming_in(config), actor_options().from(config).real};
}

int LocalProcessGroup::run(const learner::RunFolder& folder) {
  wire::AuthorisedKeys authorised(folder.authorised());
  std::vector<WorkerSpec> workers{learner_spec(folder)};
  const Config config = load_run_config(folder);
  const std::int64_t count = peers_in(config) + actors(config).all();
  const std::string relay = config.text("wire.relay") == "all" ? relay_name(0) : "";
  for (std::int64_t rank = 1; rank <= count; ++rank) {
    const std::filesystem::path key = keys_.path() / (learner::worker_key_name(rank) + ".key");
    authorised.add(learner::worker_key_name(rank), wire::load_or_make_key_pair(key).public_key);
    workers.push_back(worker_spec(folder, learner::worker_key_name(rank), rank, key, relay));
  }
  if (!relay.empty()) {
    const std::filesystem::path key = keys_.path() / (relay + ".key");
    authorised.add(relay, wire::load_or_make_key_pair(key).public_key);
    workers.push_back(relay_spec(folder, relay, key));
  }
  const SystemClock clock;
  Supervisor supervisor(std::move(workers), supervisor_options(), clock);
  const int code = supervisor.run();
  asked_to_stop_ = supervisor.asked_to_stop();
  return code;
}

LeadingProcessGroup::LeadingProcessGroup(MpiSession& mpi) : mpi_(mpi), ranks_(mpi.gather("")) {}

/// Its mark; none where no relay is wanted.
std::string LeadingProcessGroup::plan_relays(const learner::RunFolder& folder,
                                             wire::AuthorisedKeys& authorised) {
  const Config config = load_run_config(folder);
  std::vector<std::string> networks{wire::own_network()};
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
    networks.push_back(nlohmann::json::parse(ranks_[rank]).at(kNetwork).get<std::string>());
  const RelayPlan plan =
      make_relay_plan(config.text("wire.relay"), networks, static_cast<std::size_t>(peers_in(config)) + 1);
  if (plan.empty()) return "";
  for (const auto& [rank, relay] : plan)
    if (relay == relay_name(rank))
      authorised.add(
          relay,
          nlohmann::json::parse(ranks_[static_cast<std::size_t>(rank)]).at(kRelayKey).get<std::string>());
  return save_relay_plan(folder, plan);
}

ActorCount LeadingProcessGroup::actors(const Config& config) const {
  const std::int64_t ranks = std::max<std::int64_t>(mpi_.size() - 1 - peers_in(config), 0),
                     dreaming = std::min(dreaming_in(config), ranks);
  return {dreaming, ranks - dreaming};
}

int LeadingProcessGroup::run(const learner::RunFolder& folder) {
  wire::AuthorisedKeys authorised(folder.authorised());
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
    authorised.add(learner::worker_key_name(static_cast<std::int64_t>(rank)),
                   nlohmann::json::parse(ranks_[rank]).at(kKey).get<std::string>());
  nlohmann::json word{{"run", folder.root.string()}};
  if (const std::string mark = plan_relays(folder, authorised); !mark.empty()) word[kRelayPlan] = mark;
  mpi_.broadcast(word.dump());
  const SystemClock clock;
  Supervisor supervisor({learner_spec(folder)}, supervisor_options(), clock);
  const int code = supervisor.run();
  asked_to_stop_ = supervisor.asked_to_stop();
  return code;
}

void LeadingProcessGroup::dismiss(bool failed) {
  mpi_.broadcast(failed ? R"({"failed": true})" : "{}");
}

int follow(MpiSession& mpi) {
  RankOutcome outcome;
  try {
    const TempDir keys("regraft-keys");
    const std::string name = learner::worker_key_name(mpi.rank());
    const RankKeys files{keys.path() / (name + ".key"), keys.path() / "relay.key"};
    mpi.gather(nlohmann::json{{kNetwork, wire::own_network()},
                              {kKey, wire::load_or_make_key_pair(files.worker).public_key},
                              {kRelayKey, wire::load_or_make_key_pair(files.relay).public_key}}
                   .dump());
    outcome = follow_runs(mpi, name, files);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "regraft: rank %d: %s\n", mpi.rank(), error.what());
  }
  if (!outcome.together) leave_job(outcome.code);
  return outcome.code;
}

void leave_job(int code) {
  std::_Exit(code);
}

}
