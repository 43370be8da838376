#include "launch/graphs/log_replay.h"

#include <algorithm>
#include <fstream>
#include <span>

#include "core/base/file.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/rules/lang/rule_error.h"
#include "core/task/load_rule_set.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

std::string place_of(const onnx::ImportedModel& model, std::size_t at, const graph::Graph& graph,
                     graph::NodeId id) {
  if (!graph.alive(id)) return "node " + std::to_string(id);
  const graph::Node& node = graph.node(id);
  const std::string op(graph::op_info(node.kind).name);
  if (node.origin < 0 || node.kind == graph::OpKind::weight) return op;
  const graph::Graph& before = model.graph(at);
  const bool imported = before.alive(id) && before.node(id).origin == node.origin;
  const std::string name = imported ? model.value_name({id, 0}, at) : "";
  return name.empty() ? op : op + " " + name;
}

/// Reads both, a piece at a time.
bool same_bytes(const fs::path& one, const fs::path& other) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  std::ifstream left(one, std::ios::binary), right(other, std::ios::binary);
  std::vector<char> a(kPieceBytes), b(kPieceBytes);
  const auto read = [](std::ifstream& from, std::vector<char>& into) {
    from.read(into.data(), static_cast<std::streamsize>(into.size()));
    return std::span(into).first(static_cast<std::size_t>(from.gcount()));
  };
  while (left && right)
    if (!std::ranges::equal(read(left, a), read(right, b))) return false;
  return left.eof() && right.eof();
}

}  // namespace

std::string model_sha256(const onnx::ImportedModel& model) {
  const std::string own = sha256_file(model.path());
  if (model.external_locations().empty()) return own;
  std::string digests = own;
  for (const fs::path data : model.external_locations())
    digests += "\n" + data.string() + " " + sha256_file(model.path().parent_path() / data);
  return sha256_hex(digests);
}

LogReplay::LogReplay(const fs::path& original, const fs::path& log, const fs::path& rules)
    : log_(rules::RewriteLog::load(log)),
      model_(onnx::import_model(original, {.inlined_calls = log_.inlined_count(), .fixed = log_.fixed})),
      rules_(task::load_rule_set(rules, log_.domains)) {
  if (log_.input_sha256 != model_sha256(model_))
    throw rules::RuleError("was written for another model", log.string(),
                           "give the model that was optimised");
  if (log_.inlined_count() != model_.inlined_calls())
    throw rules::RuleError("replaces calls that the model does not have", log.string(),
                           "it belongs to another version");
}

ModelGraphs LogReplay::prefix(std::size_t count) const {
  ModelGraphs graphs(model_);
  if (log_.result == "rewritten") rules::replay(log_, graphs.named(), rules_, count);
  return graphs;
}

void LogReplay::write_prefix(std::size_t count, const fs::path& path) const {
  if (count >= log_.inlined_count()) return onnx::export_model(model_, prefix(count), path);
  const onnx::ImportedModel model =
      onnx::import_model(model_.path(), {.inlined_calls = count, .fixed = log_.fixed});
  onnx::export_model(model, ModelGraphs(model), path);
}

std::vector<std::string> LogReplay::places() const {
  std::vector<std::string> places;
  ModelGraphs graphs(model_);
  if (log_.entries.empty()) return places;
  rules::Replayer replayer(log_, graphs.named(), rules_);
  for (std::size_t i = 0; i < log_.entries.size(); ++i) {
    const rules::LogEntry& entry = log_.entries[i];
    const std::size_t at = graphs.find(entry.graph);
    if (entry.name == rules::kInlineStep) {
      places.push_back("call " + std::to_string(entry.nodes[0]));
      continue;
    }
    const bool cleaned = i < replayer.done();  // clean-up has run already
    std::vector<std::string> nodes;
    for (const graph::NodeId id : entry.nodes)
      nodes.push_back(place_of(model_, at, cleaned ? model_.graph(at) : graphs[at], id));
    places.push_back((entry.graph.empty() ? "" : entry.graph + ": ") + join(nodes, ", "));
    if (!cleaned) replayer.next();
  }
  return places;
}

ReplayReport check_replay(const fs::path& original, const fs::path& optimised, const fs::path& log,
                          const fs::path& rules) {
  const LogReplay replay(original, log, rules);
  const onnx::ImportedModel given = onnx::import_model(optimised);
  if (replay.log().result == "input") return {0, {}, replay.log().input_sha256 == model_sha256(given)};
  // Under the output's own name, which external data is named after.
  const TempDir folder;
  const fs::path replayed = folder.path() / optimised.filename();
  replay.write_prefix(SIZE_MAX, replayed);
  const bool identical =
      same_bytes(replayed, optimised) &&
      std::ranges::all_of(given.external_locations(), [&](const fs::path& data) {
        return same_bytes(folder.path() / data, fs::absolute(optimised).parent_path() / data);
      });
  return {replay.log().entries.size(), replay.log().fixed, identical};
}

}
