#include "core/search/gains.h"

#include <algorithm>

#include "core/base/hash.h"

namespace regraft::search {

using graph::NodeId;

std::size_t Gains::MatchHash::operator()(const rules::Match& match) const {
  Hasher hasher(match.rule);
  for (const NodeId node : match.nodes) hasher.add(node);
  return hasher.finish().low;
}

void Gains::touch(const graph::Graph& graph, std::span<const NodeId> nodes) {
  ++now_;
  touched_.resize(std::max<std::size_t>(touched_.size(), graph.id_bound()));
  front_.clear();
  const auto reach = [&](NodeId node) {
    if (!graph.alive(node) || touched_[node] == now_) return;
    touched_[node] = now_;
    const graph::OpKind kind = graph.node(node).kind;  // what many read joins what is far apart
    if (kind != graph::OpKind::weight && kind != graph::OpKind::input) front_.push_back(node);
  };
  for (const NodeId node : nodes) reach(node);
  for (std::size_t begin = 0, edges = 0; edges < kReach; ++edges) {
    const std::size_t end = front_.size();
    for (; begin < end; ++begin) {
      const NodeId node = front_[begin];
      for (const graph::Value& value : graph.node(node).inputs)
        if (value.present()) reach(value.node);
      for (const graph::Use& use : graph.uses(node))
        if (use.user != graph::kGraphOutput) reach(use.user);
    }
  }
}

std::uint32_t Gains::touched_at(const rules::Match& match) const {
  std::uint32_t last = 0;
  for (const NodeId node : match.nodes)
    if (node < touched_.size()) last = std::max(last, touched_[node]);
  return last;
}

std::optional<double> Gains::of(const rules::Match& match) const {
  const std::uint32_t touched = touched_at(match);
  if (const auto found = seen_.find(match); found != seen_.end() && found->second.time >= touched)
    return found->second.gain_us;
  return base_ && touched == 0 ? base_->of(match) : std::nullopt;
}

void Gains::set(const rules::Match& match, double gain_us) {
  seen_[match] = {gain_us, now_};
}

void Gains::forget() {
  base_ = nullptr;
  seen_.clear();
  touched_.clear();
  now_ = 0;
}

}
