#include "launch/replay_log.h"

#include <algorithm>
#include <fstream>
#include <span>

#include "actors/config_files.h"
#include "core/base/file.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/onnx/export.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

std::string place_of(const onnx::ImportedModel& model, const graph::Graph& graph, graph::NodeId id) {
  if (!graph.alive(id)) return "node " + std::to_string(id);
  const graph::Node& node = graph.node(id);
  const std::string op(graph::op_info(node.kind).name);
  if (node.origin < 0 || node.kind == graph::OpKind::weight) return op;
  const bool imported = model.graph().alive(id) && model.graph().node(id).origin == node.origin;
  const std::string name = imported ? model.value_name({id, 0}) : "";
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
      model_(onnx::import_model(original)),
      rules_(actors::load_rule_set(rules, log_.domains)) {
  if (log_.input_sha256 != model_sha256(model_))
    throw rules::RuleError("was written for another model", log.string(),
                           "give the model that was optimised");
}

graph::Graph LogReplay::prefix(std::size_t count) const {
  graph::Graph graph = model_.graph();
  if (log_.result == "rewritten") rules::replay(log_, graph, rules_, count);
  return graph;
}

void LogReplay::write_prefix(std::size_t count, const fs::path& path) const {
  onnx::export_model(model_, prefix(count), path);
}

std::vector<std::string> LogReplay::places() const {
  std::vector<std::string> places;
  graph::Graph graph = model_.graph();
  if (log_.entries.empty()) return places;
  rules::Replayer replayer(log_, graph, rules_);
  for (std::size_t at = 0; at < log_.entries.size(); ++at) {
    const bool cleaned = at < replayer.done();  // clean-up has run already
    std::vector<std::string> nodes;
    for (const graph::NodeId id : log_.entries[at].nodes)
      nodes.push_back(place_of(model_, cleaned ? model_.graph() : graph, id));
    places.push_back(join(nodes, ", "));
    if (!cleaned) replayer.next();
  }
  return places;
}

ReplayReport check_replay(const fs::path& original, const fs::path& optimised, const fs::path& log,
                          const fs::path& rules) {
  const LogReplay replay(original, log, rules);
  const onnx::ImportedModel given = onnx::import_model(optimised);
  if (replay.log().result == "input") return {0, replay.log().input_sha256 == model_sha256(given)};
  // Under the output's own name, which external data is named after.
  const TempDir folder;
  const fs::path replayed = folder.path() / optimised.filename();
  replay.write_prefix(SIZE_MAX, replayed);
  const bool identical =
      same_bytes(replayed, optimised) &&
      std::ranges::all_of(given.external_locations(), [&](const fs::path& data) {
        return same_bytes(folder.path() / data, fs::absolute(optimised).parent_path() / data);
      });
  return {replay.log().entries.size(), identical};
}

}  // namespace regraft::launch
