#include "learner/ppo/ppo_phase.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/nn/inference/device.h"
#include "core/nn/model/policy_file.h"
#include "learner/job/ticket_plan.h"
#include "learner/job/update_sharing.h"
#include "learner/ppo/batcher.h"
#include "learner/ppo/best_episodes.h"
#include "learner/ppo/episode_statistics.h"
#include "learner/ppo/on_policy_check.h"
#include "learner/ppo/ppo.h"
#include "learner/ppo/ppo_update.h"
#include "replay/rollout/replay_error.h"

namespace regraft::learner {
namespace {

using nlohmann::json;

struct EpisodeResult : TicketResult {
  explicit EpisodeResult(Episode of) : episode(std::move(of)) {
    steps = episode.step_count();
    weight_version = episode.weight_version();
  }
  Episode episode;
};

Ppo make_ppo(const PpoPhaseSetup& setup, const nn::NetworkConfig& network) {
  const LearnerOptions& options = setup.job.options;
  return {
      network,     nn::initial_weights(network, options.seed), setup.rule_features, setup.ppo, options.device,
      options.seed};
}

nn::NetworkConfig network_of(const PpoPhaseSetup& setup) {
  return network_config(setup.network, setup.op_kind_names.size(), setup.rule_names.size());
}

class PpoPhase : public Phase {
 public:
  explicit PpoPhase(PpoPhaseSetup setup)
      : Phase({.name = "ppo",
               .lock_step = setup.job.options.deterministic,
               .queued_steps = setup.job.options.steps_per_update,
               .queued_results = setup.job.options.episodes_per_update}),
        setup_(std::move(setup)),
        network_(network_of(setup_)),
        plan_({options().seed, static_cast<std::uint32_t>(setup_.model_names.size()),
               replay::kMaxSegmentSteps, options().deterministic, options().episodes_per_update}),
        batcher_({options().steps_per_update, options().deterministic, options().episodes_per_update}),
        statistics_(setup_.model_names),
        best_(static_cast<std::size_t>(setup_.ppo.imitated_episodes)),
        matched_(setup_.rule_names.size(), false),
        ppo_(make_ppo(setup_, network_)),
        sharing_(ppo_, setup_.job.join),
        on_policy_(options().deterministic, nn::resolve_device(options().device)) {}

  PhaseStart restore(const PhaseState* saved, std::uint64_t updates) override;
  std::optional<wire::TicketSpec> next_ticket(const wire::ActorInfo&, std::uint64_t published) override {
    return plan_.next(published);
  }
  std::unique_ptr<TicketResult> judge(const wire::Delivery& delivery) override;
  void admit(std::unique_ptr<TicketResult> result, std::uint64_t) override {
    batcher_.add(std::move(static_cast<EpisodeResult&>(*result).episode));
  }
  PhaseStatus status(std::uint64_t updates) const override { return {.ready = batcher_.ready(updates)}; }
  UpdateResult update(const JobFigures& job) override;

  PhaseState save(std::span<const std::unique_ptr<TicketResult>> queued, const JobFigures& job) override;
  PhaseReport report(const JobFigures& job) override;
  void export_as(const std::string& name, const JobFigures& job) override;
  PhaseSummary summary(const JobFigures& job, const wire::JobTicketCounts& ticket_counts) const override;

 private:
  const LearnerOptions& options() const { return setup_.job.options; }
  std::uint64_t played_steps(const JobFigures& job) const { return played_before_ + job.intake.played_steps; }
  /// Takes over what is trained on of a batch.
  std::vector<replay::Segment> draw(std::vector<Episode>& batch, std::uint64_t version);
  std::vector<replay::Segment> draw_best(std::uint64_t version) const;
  void note_matches(const Episode& episode);
  TicketResults take_over(const PhaseState& saved, std::uint64_t updates);
  std::optional<CurvePoint> point(const JobFigures& job);
  std::string describe(const json& figures) const;
  std::vector<std::string> matched_rules() const;

  const PpoPhaseSetup setup_;
  const nn::NetworkConfig network_;
  TicketPlan plan_;
  Batcher batcher_;
  EpisodeStatistics statistics_;
  BestEpisodes best_;          // empty unless they are imitated
  std::vector<bool> matched_;  // by rule: legal in a state of some episode
  Ppo ppo_;
  UpdateSharing sharing_;
  OnPolicyCheck on_policy_;
  std::optional<PpoMetrics> metrics_;  // of an update without a point
  std::atomic<std::uint64_t> malformed_ = 0, other_head_ = 0;
  std::uint64_t episodes_ = 0, steps_ = 0, costed_ = 0, steps_here_ = 0;
  std::uint64_t played_before_ = 0;  // steps that actors sent to earlier generations
};

std::unique_ptr<TicketResult> PpoPhase::judge(const wire::Delivery& delivery) {
  std::atomic<std::uint64_t>* reason = &malformed_;
  try {
    auto result = std::make_unique<EpisodeResult>(assemble_episode(delivery));
    reason = &other_head_;
    const bool hierarchical = network_.head == nn::Head::hierarchical;
    const char* differs = result->episode.hierarchical() != hierarchical          ? "head"
                          : result->episode.action_mode() != network_.action_mode ? "workload.action_mode"
                                                                                  : nullptr;
    if (differs != nullptr)
      throw replay::ReplayError(std::string("was acted with another ") + differs + " than is trained",
                                "episode", "run actors and learner with one config");
    return result;
  } catch (const replay::ReplayError&) {
    ++*reason;
    throw;
  }
}

std::vector<replay::Segment> PpoPhase::draw(std::vector<Episode>& batch, std::uint64_t version) {
  Rng rng(options().seed, "learner/trained share " + std::to_string(version));
  std::vector<replay::Segment> segments;
  for (const std::size_t i : draw_episodes(batch, options().trained_share, rng)) {
    for (replay::Segment& segment : batch[i].segments) {
      steps_here_ += segment.steps.size();
      segments.push_back(std::move(segment));
    }
  }
  return segments;
}

std::vector<replay::Segment> PpoPhase::draw_best(std::uint64_t version) const {
  Rng rng(options().seed, "learner/imitated models " + std::to_string(version));
  return best_.draw(static_cast<std::size_t>(setup_.ppo.imitated_models), rng);
}

void PpoPhase::note_matches(const Episode& episode) {
  for (const replay::Segment& segment : episode.segments)
    for (const replay::Step& step : segment.steps)
      for (const std::uint16_t rule : step.observation.candidate_rules)
        if (rule < matched_.size()) matched_[rule] = true;
}

std::vector<std::string> PpoPhase::matched_rules() const {
  std::vector<std::string> names;
  for (std::size_t rule = 0; rule < matched_.size(); ++rule)
    if (matched_[rule]) names.push_back(setup_.rule_names[rule]);
  return names;
}

UpdateResult PpoPhase::update(const JobFigures& job) {
  const std::uint64_t version = job.updates + 1;
  std::vector<Episode> batch = batcher_.take(job.updates, version, options().staleness);
  if (batch.empty()) return {.made = false};
  statistics_.add(batch, version);
  episodes_ += batch.size();
  for (const Episode& episode : batch) {
    steps_ += episode.step_count();
    costed_ += episode.end().episode_costed;
    note_matches(episode);
    if (setup_.ppo.imitation > 0) best_.look(episode);
  }
  const std::vector<replay::Segment> drawn = draw(batch, version), best = draw_best(version);
  std::optional<double> annealed;
  if (options().anneal) annealed = job.annealed();
  sharing_.begin([&] { return ppo_.save(); });
  sharing_.tell([&] { return encode_ppo_update(annealed, drawn, best); });
  if (annealed) ppo_.anneal(*annealed);
  metrics_ = ppo_.update(drawn, best);
  on_policy_.add(*metrics_);
  return {.weights = nn::encode_weights(ppo_.weights())};
}

std::optional<CurvePoint> PpoPhase::point(const JobFigures& job) {
  if (!metrics_) return std::nullopt;
  const PpoMetrics metrics = *std::exchange(metrics_, std::nullopt);
  CurvePoint point{.x = static_cast<std::int64_t>(job.updates)};
  const auto add = [&](const char* name, auto value) { point.add(name, static_cast<double>(value)); };
  add("ppo/policy_loss", metrics.policy_loss);
  add("ppo/value_loss", metrics.value_loss);
  add("ppo/entropy", metrics.entropy);
  add("ppo/approx_kl", metrics.approx_kl);
  add("ppo/clip_fraction", metrics.clip_fraction);
  add("ppo/explained_variance", metrics.explained_variance);
  add("ppo/gradient_norm", metrics.gradient_norm);
  add("ppo/truncated_fraction", metrics.truncated_fraction);
  add("ppo/imitated_steps", metrics.imitated_steps);
  add("ppo/lag0_steps", metrics.lag0_steps);
  add("ppo/lag0_ratio_max", metrics.lag0_ratio_max);
  add("ppo/lag0_ratio_p999", metrics.lag0_ratio_p999);
  statistics_.add_to(point);
  add("train/steps", steps_);
  add("train/candidates", costed_);
  add("train/episodes", episodes_);
  add("train/expired", batcher_.expired());
  add("wire/payload_bytes", job.intake.payload_bytes);
  add("wire/malformed", malformed_.load());
  add("wire/other_head", other_head_.load());
  add("queue/intake_episodes", job.intake.queued_results);
  add("queue/intake_steps", job.intake.queued_steps);
  add("queue/batch_episodes", batcher_.pending_episodes());
  return point;
}

PhaseReport PpoPhase::report(const JobFigures& job) {
  char note[160];
  std::snprintf(note, sizeof note, "return %.4f, best cost %.4f, %llu episodes, %zu actors",
                statistics_.mean_return(), statistics_.best_cost_ratio(0),
                static_cast<unsigned long long>(episodes_), job.hub.actor_count());
  return {point(job),
          {.label = "training",
           .unit = "updates",
           .total = options().updates,
           .done = job.updates,
           .note = note}};
}

PhaseState PpoPhase::save(std::span<const std::unique_ptr<TicketResult>> queued, const JobFigures& job) {
  std::vector<Episode> untrained = batcher_.pending();
  for (const auto& result : queued) untrained.push_back(static_cast<const EpisodeResult&>(*result).episode);
  PhaseState state;
  state.parts["ppo"] = ppo_.save();
  if (best_.size() > 0) state.parts["best_episodes"] = best_.save();
  state.parts["episodes"] = encode_episodes(untrained);
  state.values = {
      {"episodes", episodes_},
      {"steps", steps_},
      {"played_steps", played_steps(job)},
      {"candidates", costed_},
      {"tickets", plan_.position()},
      {"matched_rules", matched_},
      {"statistics", statistics_.save()},
      {"ratio_error_lag0", on_policy_.record().ratio_error},
      {"lag0_steps", on_policy_.record().steps},
  };
  return state;
}

PhaseStart PpoPhase::restore(const PhaseState* saved, std::uint64_t updates) {
  PhaseStart start;
  if (saved != nullptr) start.queued = take_over(*saved, updates);
  start.weights = nn::encode_weights(ppo_.weights());
  return start;
}

TicketResults PpoPhase::take_over(const PhaseState& saved, std::uint64_t updates) {
  const json& state = saved.values;
  episodes_ = state.at("episodes");
  steps_ = state.at("steps");
  played_before_ = state.value("played_steps", steps_);  // older ones have none
  costed_ = state.at("candidates");
  // Older ones do not say: as if all had matched.
  matched_ = state.value("matched_rules", std::vector<bool>(matched_.size(), true));
  statistics_.restore(state.at("statistics"));
  on_policy_.restore({state.at("ratio_error_lag0"), state.at("lag0_steps")});
  ppo_.restore(saved.parts.at("ppo"));
  const auto best = saved.parts.find("best_episodes");
  if (setup_.ppo.imitation > 0 && best != saved.parts.end()) best_.restore(best->second);
  plan_.resume(updates, state.at("tickets"));
  TicketResults untrained;
  if (options().deterministic) return untrained;  // all tickets of the interrupted update are issued again
  for (Episode& episode : decode_episodes(saved.parts.at("episodes")))
    untrained.push_back(std::make_unique<EpisodeResult>(std::move(episode)));
  return untrained;
}

void PpoPhase::export_as(const std::string& name, const JobFigures& job) {
  nn::PolicyFile policy;
  policy.network = network_;
  policy.observation_schema = env::kObservationSchema;
  policy.op_kinds = setup_.op_kind_names;
  policy.rule_set_hash = setup_.rule_set_hash;
  policy.rule_names = setup_.rule_names;
  policy.limits = setup_.limits;
  policy.weights = ppo_.weights();
  policy.training_record = json{
      {"models", setup_.model_names},
      {"updates", job.updates},
      {"episodes", episodes_},
      {"steps", steps_},
      {"candidates", costed_},
      {"seconds", job.seconds},
      {"mean_return", statistics_.mean_return()},
      {nn::kMatchedRules, matched_rules()},
      {"config",
       setup_.job.config_toml}}.dump();
  std::filesystem::create_directories(setup_.job.folder.policies());
  nn::save_policy(policy, setup_.job.folder.policies() / (name + ".policy"));
}

PhaseSummary PpoPhase::summary(const JobFigures& job, const wire::JobTicketCounts&) const {
  const double here = std::max(job.seconds_here, 1e-9);
  std::uint64_t cpu_ns = wire::process_cpu_ns(), wire_ns = job.moved.cpu_ns;
  for (const wire::ActorStatus& actor : job.hub.actors) {
    cpu_ns += actor.process_cpu_ns;
    wire_ns += actor.wire_cpu_ns;
  }
  const double cpu = static_cast<double>(std::max<std::uint64_t>(cpu_ns, 1));
  json figures{
      {"updates", job.updates},
      {"episodes", episodes_},
      {"steps", steps_},
      {"played_steps", played_steps(job)},
      {"seconds", job.seconds},
      {"mean_return", statistics_.mean_return()},
      {"trained_twice", batcher_.trained_twice()},
      {"expired", batcher_.expired()},
      {"policy_steps_per_second", static_cast<double>(job.intake.played_steps) / here},
      {"samples_per_second", static_cast<double>(steps_here_) / here},
      {"payload_bytes_per_second", static_cast<double>(job.intake.payload_bytes) / here},
      {"transport_cpu_share", static_cast<double>(wire_ns) / cpu},
      {"ratio_error_lag0_max", on_policy_.record().ratio_error},
      {"lag0_steps", on_policy_.record().steps},
  };
  for (std::size_t model = 0; model < setup_.model_names.size(); ++model)
    figures["best_cost_ratio"][setup_.model_names[model]] = statistics_.best_cost_ratio(model);
  return {figures, describe(figures), batcher_.trained_twice() == 0, sharing_.farewell()};
}

std::string PpoPhase::describe(const json& figures) const {
  const auto number = [&](const char* key) { return figures.at(key).get<double>(); };
  std::ostringstream out;
  out.precision(4);
  out << "trained " << figures.at("updates") << " updates on " << figures.at("episodes") << " episodes ("
      << figures.at("steps") << " steps) in " << number("seconds")
      << " s; mean return of the last 100 episodes " << number("mean_return") << "\n";
  for (std::size_t model = 0; model < setup_.model_names.size(); ++model)
    out << "  " << setup_.model_names[model] << ": best cost found " << statistics_.best_cost_ratio(model)
        << " of the initial one\n";
  out << "rates: " << number("policy_steps_per_second") << " policy steps/s, " << number("samples_per_second")
      << " learner samples/s, " << number("payload_bytes_per_second") / 1e3 << " kB/s; transport takes "
      << 100 * number("transport_cpu_share") << " % of the CPU time\n"
      << "checks: largest |pi/mu - 1| at lag 0 " << number("ratio_error_lag0_max")
      << "; trajectories trained twice " << figures.at("trained_twice") << "; too old when their turn came "
      << figures.at("expired") << "\n"
      << "policy: " << setup_.job.folder.latest_policy().string() << "\n";
  return out.str();
}

}  // namespace

void follow_ppo_phase(const PpoPhaseSetup& setup) {
  Ppo ppo = make_ppo(setup, network_of(setup));
  follow_updates(setup.job.join, ppo);
}

std::unique_ptr<Phase> make_ppo_phase(PpoPhaseSetup setup) {
  return std::make_unique<PpoPhase>(std::move(setup));
}

}
