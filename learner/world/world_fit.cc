#include "learner/world/world_fit.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "learner/optimiser/work_share.h"
#include "learner/world/dynamics_fit.h"
#include "learner/world/encoder_fit.h"
#include "replay/rollout/replay_error.h"

namespace regraft::learner {
namespace {

constexpr std::uint32_t kOpenLoopDepths = 20;

nn::WorldModelConfig config_of(const WorldOptions& o, const WorldData& data, const WorldContext& context) {
  nn::WorldModelConfig config;
  config.encoder = nn::preset(o.encoder, static_cast<std::uint32_t>(context.op_kinds.size()));
  config.dynamics = {.latent = o.latent,
                     .action = o.action,
                     .hidden = o.hidden,
                     .mixtures = o.mixtures,
                     .rules = static_cast<std::uint32_t>(data.rules().size()),
                     .count_bins = o.count_bins,
                     .sigma_floor = o.sigma_floor};
  config.locations = context.location_limit;
  config.reward_hidden = o.reward_hidden;
  check(config);
  return config;
}

void add_figures(std::string& line, std::initializer_list<double> figures) {
  for (const double figure : figures) {
    char text[32];
    std::snprintf(text, sizeof text, ",%.6g", figure);
    line += text;
  }
}

void add_losses(std::string& line, const EncoderLosses& l) {
  add_figures(line, {l.cost, l.rules, l.counts, l.change, l.next, l.spread, l.total});
}

void add_losses(std::string& line, const DynamicsFigures& f) {
  add_figures(line, {f.latent, f.reward, f.terminal, f.rules, f.counts});
}

void put_lines(replay::ByteWriter& out, const std::vector<std::string>& lines) {
  out.varint(lines.size());
  for (const std::string& line : lines) {
    out.varint(line.size());
    out.raw(std::as_bytes(std::span(line.data(), line.size())));
  }
}

std::vector<std::string> take_lines(replay::ByteReader& in) {
  std::vector<std::string> lines(in.count());
  for (std::string& line : lines) {
    const auto raw = in.raw(in.count());
    line.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
  }
  return lines;
}

void write_csv(const std::filesystem::path& path, const std::string& names,
               const std::vector<std::string>& lines) {
  std::string text = names + "\n";
  for (const std::string& line : lines) text += line + "\n";
  write_file_atomic(path, text);
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> parts{""};
  for (const char c : line) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// ",train_cost,train_rules,...,held_out_cost,..."
std::string fitted_and_held_out(const std::vector<std::string>& names) {
  std::string text;
  for (const char* prefix : {",train_", ",held_out_"})
    for (const std::string& name : names) text += prefix + name;
  return text;
}

// The columns of the figures' lines.
std::string encoder_names() {
  return "update" + fitted_and_held_out({"cost", "rules", "counts", "change", "next", "spread", "total"});
}
std::string dynamics_names() {
  return "update,rate" + fitted_and_held_out({"nll", "reward", "terminal", "rules", "counts"});
}
constexpr char kRewardNames[] = "update,train_apart,held_out_apart,held_out_shared";

/// The last update of a stage that is over: that ended with a line, which begins with the number.
std::uint64_t last_update(const std::vector<std::string>& lines) {
  return lines.empty() ? 0 : std::stoull(lines.back());
}

}  // namespace

struct WorldFit::Parts {
  Parts(const WorldContext& context, const replay::SequenceReplay& replay, const WorldOptions& options,
        EnvironmentOf environment_of, const nn::PolicyOptions& compute)
      : data(replay, options, std::move(environment_of)),
        config(config_of(options, data, context)),
        encoder(config, data, options, work, compute),
        latents(data, config, options, work, compute),
        dynamics(config, latents, options, work) {}

  WorldData data;
  nn::WorldModelConfig config;
  WorkShare work;
  EncoderFit encoder;
  LatentData latents;
  DynamicsFit dynamics;
};

WorldFit::WorldFit(WorldContext context, const replay::SequenceReplay& replay, const WorldOptions& options,
                   EnvironmentOf environment_of, const nn::PolicyOptions& compute)
    : context_(std::move(context)),
      options_(options),
      parts_(std::make_unique<Parts>(context_, replay, options_, std::move(environment_of), compute)) {
  for (std::uint32_t model = 0; model < context_.model_names.size(); ++model) first_episode(model);
  const auto episodes = parts_->data.episodes();
  const auto cut =
      std::ranges::count_if(episodes, [&](const auto& of) { return of.length() > options_.time; });
  if (cut > 0)
    log_warning("{} of {} episodes are longer than world.time = {} steps: what comes behind is not fitted",
                cut, episodes.size(), options_.time);
  if (options_.encoder_updates == 0) enter(Stage::dynamics);
}

/// Where dreams of a model begin.
std::size_t WorldFit::first_episode(std::uint32_t model) const {
  const auto episodes = parts_->data.episodes();
  const auto found = std::ranges::find(episodes, model, &WorldEpisode::model);
  if (found == episodes.end())
    throw nn::NnError("has no episode in the replay", context_.model_names[model],
                      "collect more steps, or raise train.minutes");
  return static_cast<std::size_t>(found - episodes.begin());
}

std::uint64_t WorldFit::lost_episodes() const {
  return parts_->data.lost();
}

WorldFit::~WorldFit() = default;

void WorldFit::share_with(std::shared_ptr<wire::Group> group) {
  parts_->work.share_with(std::move(group));
}

std::uint64_t WorldFit::updates_until(Stage stage) const {
  std::uint64_t updates = 0;
  if (stage > Stage::encoder) updates += options_.encoder_updates;
  if (stage > Stage::dynamics) updates += options_.dynamics_updates;
  if (stage > Stage::reward && options_.reward_hidden > 0) updates += options_.reward_updates;
  return updates;
}

std::uint64_t WorldFit::updates_done() const {
  std::uint64_t updates = update_;
  if (stage_ > Stage::encoder) updates += last_update(encoder_lines_);
  if (stage_ > Stage::dynamics) updates += last_update(dynamics_lines_);
  if (stage_ > Stage::reward) updates += last_update(reward_lines_);
  return updates;
}

/// Latents are made when the encoder is frozen; stages without updates are passed.
void WorldFit::enter(Stage stage) {
  stage_ = stage;
  update_ = 0;
  if (stage == Stage::dynamics) {
    parts_->latents.encode(parts_->encoder.encoder());
    if (options_.dynamics_updates == 0) enter(Stage::reward);
  } else if (stage == Stage::reward && (options_.reward_hidden == 0 || options_.reward_updates == 0)) {
    enter(Stage::done);
  }
}

bool WorldFit::advance(double time_share) {
  newest_ = nullptr;
  if (stage_ == Stage::done) return false;
  const Place place = place_at(time_share);
  if (stage_ == Stage::encoder)
    encoder_update(place);
  else if (stage_ == Stage::dynamics)
    dynamics_update(place);
  else
    reward_update(place.last);
  return stage_ != Stage::done;
}

WorldFit::Place WorldFit::place_at(double time_share) const {
  const std::uint64_t before = updates_until(stage_);
  const std::uint64_t updates = updates_until(static_cast<Stage>(static_cast<int>(stage_) + 1)) - before;
  const double by_time = time_share * static_cast<double>(updates_in_all()) - static_cast<double>(before);
  if (update_ + 1 == updates || by_time >= static_cast<double>(updates)) return {true, updates - 1};
  return {false, std::max(update_, static_cast<std::uint64_t>(std::max(by_time, 0.0)))};
}

void WorldFit::encoder_update(const Place& place) {
  const EncoderLosses fitted = parts_->encoder.update(update_, place.rate_at);
  ++update_;
  if (due(place.last)) {
    std::string line = std::to_string(update_);
    add_losses(line, fitted);
    add_losses(line, parts_->encoder.held_out());
    encoder_lines_.push_back(std::move(line));
    newest_ = &encoder_lines_;
  }
  if (place.last) enter(Stage::dynamics);
}

void WorldFit::dynamics_update(const Place& place) {
  const DynamicsFigures fitted = parts_->dynamics.update(update_, place.rate_at);
  ++update_;
  if (due(place.last)) {
    std::string line = std::to_string(update_);
    add_figures(line, {decayed_rate(options_, place.rate_at)});
    add_losses(line, fitted);
    add_losses(line, parts_->dynamics.held_out());
    dynamics_lines_.push_back(std::move(line));
    newest_ = &dynamics_lines_;
  }
  if (place.last) enter(Stage::reward);
}

void WorldFit::reward_update(bool last) {
  const double fitted = parts_->dynamics.reward_update(update_);
  ++update_;
  if (due(last)) {
    std::string line = std::to_string(update_);
    add_figures(line, {fitted, parts_->dynamics.reward_held_out(), parts_->dynamics.held_out().reward});
    reward_lines_.push_back(std::move(line));
    newest_ = &reward_lines_;
  }
  if (last) enter(Stage::done);
}

std::vector<std::pair<std::string, double>> WorldFit::newest_figures() const {
  if (newest_ == nullptr) return {};
  const bool encoder = newest_ == &encoder_lines_, dynamics = newest_ == &dynamics_lines_;
  const std::string stage = encoder ? "encoder/" : dynamics ? "dynamics/" : "reward/";
  const auto names = split(encoder ? encoder_names() : dynamics ? dynamics_names() : kRewardNames);
  const auto values = split(newest_->back());
  std::vector<std::pair<std::string, double>> figures;
  for (std::size_t i = 1; i < names.size(); ++i)
    figures.emplace_back(stage + names[i], std::stod(values.at(i)));
  return figures;
}

std::string WorldFit::status() const {
  constexpr const char* names[] = {"encoder", "dynamics", "reward", "done"};
  const auto& lines = stage_ == Stage::encoder    ? encoder_lines_
                      : stage_ == Stage::dynamics ? dynamics_lines_
                                                  : reward_lines_;
  return std::string(names[static_cast<std::size_t>(stage_)]) + " " + std::to_string(update_) +
         (lines.empty() ? "" : ": " + lines.back());
}

std::vector<float> WorldFit::values() const {
  if (stage_ == Stage::encoder) return parts_->encoder.values();
  std::vector<float> values = parts_->latents.statistics().mean;
  for (const nn::Weights& weights : {parts_->dynamics.dynamics(), parts_->dynamics.reward()})
    values.insert(values.end(), weights.values.begin(), weights.values.end());
  return values;
}

nn::WorldModel WorldFit::world() const {
  nn::WorldModel world;
  world.config = parts_->config;
  world.horizon = context_.horizon;
  world.location_limit = context_.location_limit;
  world.action_mode = context_.action_mode;
  world.reward_kind = context_.reward_kind;
  world.op_kinds = context_.op_kinds;
  world.rule_set_hash = context_.rule_set_hash;
  world.rule_count = parts_->data.rule_count();
  world.rules = parts_->data.rules();
  world.model_names = context_.model_names;
  world.encoder = parts_->encoder.encoder();
  world.latents = parts_->latents.statistics();
  world.dynamics = parts_->dynamics.dynamics();
  world.dynamics_of = world.encoder_version();
  world.reward = parts_->dynamics.reward();
  if (options_.reward_hidden > 0) world.reward_of = world.dynamics_version();
  world.rewards = parts_->latents.rewards();
  for (std::uint32_t model = 0; model < context_.model_names.size(); ++model) {
    const std::size_t i = first_episode(model);
    nn::WorldStart start{context_.model_names[model], {}, {}};
    const auto z = parts_->latents.latent(i, 0);
    start.latent.assign(z.begin(), z.end());
    for (const std::uint16_t rule : world.rules)
      start.counts.push_back(parts_->data.episodes()[i].states.front().counts[rule]);
    world.starts.push_back(std::move(start));
  }
  world.training_record = nlohmann::json{
      {"episodes", parts_->data.episodes().size()},
      {"lost_episodes", lost_episodes()},
      {"steps", parts_->data.steps()},
      {"candidates", parts_->data.costed()},
      {"updates", updates_done()},
      {"bind", context_.bind},
      {"seed", options_.seed}}.dump();
  check(world, "world model fit");
  return world;
}

std::vector<DepthFigures> WorldFit::open_loop_figures(std::uint32_t depths) const {
  return open_loop(parts_->dynamics, depths, options_.seed);
}

void WorldFit::write_figures(const std::filesystem::path& folder) const {
  std::filesystem::create_directories(folder);
  write_csv(folder / "encoder.csv", encoder_names(), encoder_lines_);
  write_csv(folder / "dynamics.csv", dynamics_names(), dynamics_lines_);
  if (options_.reward_hidden > 0) write_csv(folder / "reward.csv", kRewardNames, reward_lines_);
  if (stage_ == Stage::done)
    write_file_atomic(folder / "open_loop.csv", to_csv(open_loop_figures(kOpenLoopDepths)));
}

replay::Bytes WorldFit::save() const {
  replay::Bytes bytes;
  replay::ByteWriter out(bytes);
  out.value(static_cast<std::uint8_t>(stage_));
  out.varint(update_);
  parts_->encoder.write(out);
  parts_->dynamics.write(out);
  for (const auto* lines : {&encoder_lines_, &dynamics_lines_, &reward_lines_}) put_lines(out, *lines);
  return bytes;
}

void WorldFit::restore(std::span<const std::byte> bytes) {
  replay::ByteReader in(bytes);
  const auto stage = in.value<std::uint8_t>();
  if (stage > static_cast<std::uint8_t>(Stage::done))
    throw replay::ReplayError("its stage is none", "world model fit", "");
  const std::uint64_t update = in.varint();
  parts_->encoder.read(in);
  parts_->dynamics.read(in);
  for (auto* lines : {&encoder_lines_, &dynamics_lines_, &reward_lines_}) *lines = take_lines(in);
  in.finish();
  stage_ = static_cast<Stage>(stage);
  update_ = update;
  if (stage_ != Stage::encoder) parts_->latents.encode(parts_->encoder.encoder());
}

}
