#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/nn/model/controller_file.h"
#include "core/nn/model/policy_file.h"
#include "core/nn/model/world_bundle.h"
#include "core/onnx/import.h"
#include "core/onnx/model_summary.h"
#include "core/rules/rewrite/rewrite_log.h"
#include "launch/call/subprocess_checks.h"
#include "launch/cli/commands.h"
#include "launch/policy/controller_bundle.h"
#include "learner/job/checkpoint.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

void print_counts(const char* title, const std::map<std::string, std::size_t>& counts) {
  if (counts.empty()) return;
  std::printf("%s:", title);
  for (const auto& [op, count] : counts) std::printf(" %s %zu", op.c_str(), count);
  std::printf("\n");
}

/// The sizes at which commands run the model, and why.
void print_sizes(const fs::path& path, bool has_dims) {
  if (!has_dims) return;
  const exec::Feed feed = feed_in_child(path, {}, 0);
  if (feed.runs())
    std::printf("%s\n", describe_sizes(feed).c_str());
  else
    std::printf("sizes: none found: %s (%s)\n", feed.problem.c_str(), feed.remedy.c_str());
}

void inspect_model(const fs::path& path) {
  const onnx::ImportedModel model = onnx::import_model(path);
  const onnx::ModelSummary summary = onnx::summarise(model);
  std::printf("ONNX model, IR %lld, made by %s\n", static_cast<long long>(summary.ir_version),
              summary.producer.empty() ? "unknown" : summary.producer.c_str());
  for (const auto& [domain, version] : summary.opsets)
    std::printf("opset %lld of %s\n", static_cast<long long>(version),
                domain.empty() ? "ai.onnx" : domain.c_str());
  for (const onnx::NamedType& input : summary.inputs)
    std::printf("input  %s: %s\n", input.name.c_str(), input.type.c_str());
  for (const onnx::NamedType& output : summary.outputs)
    std::printf("output %s: %s\n", output.name.c_str(), output.type.c_str());
  std::printf("%zu nodes, %zu initializers, %.1f MB of weights%s\n", summary.nodes, summary.initializers,
              static_cast<double>(summary.weight_bytes) / 1e6,
              summary.external_data ? " (external data)" : "");
  print_sizes(path, !summary.symbols.empty());
  print_counts("ops", summary.op_counts);
  print_counts("left alone", summary.opaque_ops);
  for (const onnx::BodySummary& body : summary.bodies)
    std::printf("body %s: %zu nodes, runs %s\n", body.path.c_str(), body.nodes, body.runs.c_str());
}

void inspect_policy(const fs::path& path) {
  const nn::PolicyFile policy = nn::load_policy(path);
  std::printf("policy: %s head, width %u, %u message-passing steps, %zu weights, observation schema %u\n",
              std::string(enum_name(policy.network.head)).c_str(), policy.network.width, policy.network.steps,
              policy.weights.values.size(), policy.observation_schema);
  std::printf("trained on %zu rules (set %s)%s, %zu op kinds\n", policy.rule_names.size(),
              policy.rule_set_hash.c_str(),
              policy.network.action_mode == env::ActionMode::all_sites ? ", at one site and at all" : "",
              policy.op_kinds.size());
  std::printf("in episodes of at most %u steps, %u locations of a rule\n", policy.limits.horizon,
              policy.limits.location_limit);
  std::printf("%s\n", nlohmann::json::parse(policy.training_record).dump(2).c_str());
}

void inspect_bundle(const fs::path& path) {
  const nn::WorldBundle bundle = nn::load_bundle(path);
  const nn::WorldModel& world = bundle.world;
  std::printf("world model: %u dims of a state, LSTM of width %u, %u rules (set %s)%s, rewards %s\n",
              world.config.dynamics.latent, world.config.dynamics.hidden, world.config.dynamics.rules,
              world.rule_set_hash.c_str(),
              world.action_mode == env::ActionMode::all_sites ? ", at one site and at all" : "",
              world.reward_kind.c_str());
  std::printf("fitted on %s, in episodes of at most %u steps, %u locations of a rule\n%s\n",
              join(world.model_names, ", ").c_str(), world.horizon, world.location_limit,
              nlohmann::json::parse(world.training_record).dump(2).c_str());
  if (bundle.controller.empty()) {
    std::printf("no controller\n");
    return;
  }
  const nn::ControllerFile controller = nn::decode_controller(bundle.controller, path.string());
  std::printf("controller: %s, %zu weights\n%s\n", std::string(enum_name(controller.config.kind)).c_str(),
              controller.weights.values.size(),
              nlohmann::json::parse(controller.training_record).dump(2).c_str());
}

void inspect_log(const fs::path& path) {
  const rules::RewriteLog log = rules::RewriteLog::load(path);
  std::printf("rewrite log of model %s\n%zu clean-up steps, %zu rewrites:\n", log.input_sha256.c_str(),
              log.entries.size() - log.rule_count(), log.rule_count());
  for (const rules::LogEntry& entry : log.entries)
    if (entry.cost_before_us > 0)
      std::printf("  %-28s node %-6u %10.2f -> %10.2f us  %s\n", entry.name.c_str(), entry.nodes[0],
                  entry.cost_before_us, entry.cost_after_us, entry.graph.c_str());
}

/// What a file is, by its contents.
int inspect(const fs::path& path) {
  if (fs::is_directory(path)) {
    std::printf("%s\n", learner::CheckpointStore::describe(path).c_str());
    return kDone;
  }
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min<std::size_t>(bytes.size(), 200));
  if (start.find("\"regraft_log\"") != std::string_view::npos)
    inspect_log(path);
  else if (path.extension() == ".policy")
    inspect_policy(path);
  else if (is_bundle(path))
    inspect_bundle(path);
  else
    inspect_model(path);
  return kDone;
}

}  // namespace

void add_inspect(Command& program, Action& action) {
  auto path = std::make_shared<fs::path>();
  Command* command = program.add_subcommand(
      "inspect", "what a model, policy, bundle (.world), checkpoint folder or rewrite log holds");
  command->add_option("PATH", *path, "the file, or a folder RUN/checkpoints/checkpoint-N")
      ->required()
      ->found_in_configs();
  command->callback([path, &action] { action = [path] { return inspect(*path); }; });
}

}
