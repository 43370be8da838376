#pragma once

// Internal to core/rules: what the names of a rule stand for in one match.

#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/rules/compile/compiled_rule.h"

namespace regraft::rules {

/// A value of the graph, a constant, or, while a right side is only tried, the type of a value that does not
/// exist yet.
struct Tensor {
  enum class State : std::uint8_t { unbound, absent, present };
  graph::Value value;  // not present() where it does not exist (yet)
  graph::TypeId type{};
  graph::WeightId weight = graph::WeightId::none;
  State state = State::unbound;

  bool bound() const { return state != State::unbound; }
  bool present() const { return state == State::present; }
  bool constant() const { return weight != graph::WeightId::none; }
  bool operator==(const Tensor&) const = default;

  static Tensor of(const graph::Graph& graph, graph::Value value) {
    if (!value.present()) return {{}, {}, graph::WeightId::none, State::absent};
    return {value, graph.type_id(value), graph.weight_of(value), State::present};
  }
};

struct OpBinding {
  graph::OpKind kind = graph::OpKind::opaque;  // opaque: unbound
  graph::AttrId attrs{};

  bool operator==(const OpBinding&) const = default;
};

struct Frame {
  std::vector<Tensor> tensors;
  std::vector<Quantity> quantities;
  std::vector<OpBinding> ops;
  std::vector<graph::NodeId> nodes;

  explicit Frame(const FrameSize& size)
      : tensors(size.tensors),
        quantities(size.quantities),
        ops(size.ops),
        nodes(size.nodes, graph::kNoNode) {}
};

/// The frames of a set's members. Frames that are taken away stay behind, with their memory, for the next
/// ones.
class Frames {
 public:
  Frames() = default;
  Frames(const Frames& other) : frames_(other.begin(), other.end()), size_(other.size_) {}
  Frames(Frames&& other) noexcept : frames_(std::move(other.frames_)), size_(std::exchange(other.size_, 0)) {}
  Frames& operator=(const Frames& other) {
    if (this == &other) return *this;
    clear();
    for (const Frame& frame : other) push_back(frame);
    return *this;
  }
  Frames& operator=(Frames&& other) noexcept {
    frames_ = std::move(other.frames_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  std::size_t size() const { return size_; }
  Frame& operator[](std::size_t i) { return frames_[i]; }
  const Frame& operator[](std::size_t i) const { return frames_[i]; }
  const Frame* begin() const { return frames_.data(); }
  const Frame* end() const { return frames_.data() + size_; }
  Frame* begin() { return frames_.data(); }
  Frame* end() { return frames_.data() + size_; }

  void clear() { size_ = 0; }
  void push_back(const Frame& frame) {
    if (size_ < frames_.size()) {
      frames_[size_] = frame;
    } else {
      frames_.push_back(frame);
    }
    ++size_;
  }
  /// One frame more: one that was taken away, as it was left, else an empty one.
  void extend(const FrameSize& size) {
    if (size_ == frames_.size()) frames_.emplace_back(size);
    ++size_;
  }

 private:
  std::vector<Frame> frames_;  // the first size_ count
  std::size_t size_ = 0;
};

struct Bindings {
  Frame plain;
  std::vector<Frames> members;  // by member set
  std::string_view file;        // of the rule, for errors
  std::size_t work = 0;         // that the expression being evaluated has taken

  explicit Bindings(const CompiledRule& rule)
      : plain(rule.frames[0]), members(rule.member_sets.size()), file(rule.file) {}

  Frame& frame(std::int16_t member_set, std::size_t member) {
    return member_set < 0 ? plain : members[static_cast<std::size_t>(member_set)][member];
  }
  Tensor& tensor(Slot slot, std::size_t member = 0) {
    return frame(slot.member_set, member).tensors[slot.index];
  }
  Quantity& quantity(Slot slot, std::size_t member = 0) {
    return frame(slot.member_set, member).quantities[slot.index];
  }
  std::size_t count(std::int16_t member_set) const {
    return members[static_cast<std::size_t>(member_set)].size();
  }
};

/// Where an expression is evaluated: member `member` of `member_set`, or no member.
struct Scope {
  const graph::Graph& graph;
  Bindings& bindings;
  std::int16_t member_set = -1;
  std::size_t member = 0;
};

}
