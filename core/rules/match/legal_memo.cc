#include "core/rules/match/legal_memo.h"

#include <algorithm>

namespace regraft::rules {

void LegalMemo::note_filled() {
  if (4 * ++filled_ <= slots_.size() || slots_.size() == kMostSlots) return;
  std::vector<Slot> before(2 * slots_.size());
  before.swap(slots_);
  filled_ = 0;
  for (const Slot& slot : before) {
    if (slot.state == State::empty) continue;
    slot_of(slot.key) = slot;
    ++filled_;
  }
}

void LegalMemo::begin(std::uint32_t rule) {
  key_ = Hasher(1 + rule).finish();
  values_.clear();
}

std::uint64_t LegalMemo::number_of(graph::Value value) {
  const auto found = std::find(values_.begin(), values_.end(), value);
  const auto number = static_cast<std::uint64_t>(found - values_.begin());
  if (found == values_.end()) values_.push_back(value);
  return number;
}

// Constants by their contents: ids of weights may be given to others.
void LegalMemo::add(const graph::Graph& graph, const Frame& frame) {
  const graph::WeightTable& weights = graph.tables().weights();
  for (const graph::NodeId id : frame.nodes) {
    if (id == graph::kNoNode) continue;
    const graph::Node& node = graph.node(id);
    // Which way round a commutative operation stands: the other way may be the form that a rule makes.
    const std::uint64_t first = node.inputs.size() == 2 ? 1 + number_of(node.inputs[0]) : 0;
    add(static_cast<std::uint64_t>(node.signature), first);
  }
  for (const Tensor& tensor : frame.tensors) {
    const std::uint64_t contents = tensor.constant() ? weights[tensor.weight].hash.low : 0;
    if (!tensor.present() || !tensor.value.present()) {
      add(static_cast<std::uint64_t>(tensor.state), contents);
      continue;
    }
    const std::uint64_t constant = tensor.constant() ? std::uint64_t{1} << 63 : 0;
    add(constant | number_of(tensor.value) << 32 | graph::index(tensor.type), contents);
  }
}

}
