#include "core/onnx/bodies.h"

#include <algorithm>

#include "core/graph/constants.h"
#include "core/onnx/declared_types.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using graph::Dim;
using graph::DType;
using graph::Operand;
using graph::TensorType;
using graph::TypeId;
using graph::TypeList;

constexpr std::int64_t kLargestTrips = 1 << 20;     // of a limit that is meant; larger ones mean none
constexpr int kRounds = 4;                          // of looking which dims a loop carries along
constexpr int kDepthOfShapes = 3;                   // bodies within each other of which that is asked
constexpr std::int64_t kFirstOpsetOfPlainScan = 9;  // before, Scan had a batch axis of its own

/// The attribute that holds the body of this name; -1 without.
int body_at(const pb::NodeProto& node, std::string_view name) {
  for (int i = 0; i < node.attribute_size(); ++i)
    if (node.attribute(i).name() == name && node.attribute(i).has_g()) return i;
  return -1;
}

std::vector<std::int64_t> integers(const pb::NodeProto& node, std::string_view name) {
  for (const pb::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() != name) continue;
    if (attribute.type() == pb::AttributeProto::INT) return {attribute.i()};
    return {attribute.ints().begin(), attribute.ints().end()};
  }
  return {};
}

/// What holds of both types: numbers and symbols that agree; fresh symbols for dims that differ.
TypeId join_types(graph::Tables& tables, TypeId a, TypeId b) {
  if (a == b) return a;
  const TensorType one = tables.type(a), other = tables.type(b);
  if (one.dtype != other.dtype) return tables.type_none();
  if (!one.ranked || !other.ranked || one.rank() != other.rank())
    return tables.intern(TensorType{one.dtype, false, {}});
  TensorType both = one;
  for (std::size_t i = 0; i < both.rank(); ++i)
    if (one.dims[i] != other.dims[i]) both.dims[i] = graph::symbol_dim(tables.fresh_symbol());
  return tables.intern(both);
}

/// A value that each run of a body hands to the next.
class Carried {
 public:
  Carried(graph::Tables& tables, TypeId first) : tables_(tables), type_(first) {}

  TypeId type() const { return type_; }

  /// Gives up what a run does not keep. True when nothing had to be given up.
  bool keep(TypeId given) {
    const TensorType now = tables_.type(type_), then = tables_.type(given);
    if (now.dtype == DType::undefined) return true;
    if (then.dtype != DType::undefined && now.dtype != then.dtype) return forget(tables_.type_none());
    if (!now.ranked) return true;
    if (!then.ranked || then.rank() != now.rank()) return forget_rank();
    TensorType kept = now;
    free_.resize(now.rank());
    for (std::size_t i = 0; i < now.rank(); ++i) {
      if (free_[i] || now.dims[i] == then.dims[i]) continue;
      free_[i] = true;
      kept.dims[i] = graph::symbol_dim(tables_.fresh_symbol());
    }
    return tables_.intern(kept) == type_ || forget(tables_.intern(kept));
  }

  bool forget_rank() {
    const TypeId unranked = tables_.intern(TensorType{tables_.type(type_).dtype, false, {}});
    return type_ == unranked || forget(unranked);
  }

  /// The type of the last run's value: dims that may change have another size there than within the body.
  TypeId last() const {
    TensorType type = tables_.type(type_);
    for (std::size_t i = 0; i < free_.size() && i < type.rank(); ++i)
      if (free_[i]) type.dims[i] = graph::symbol_dim(tables_.fresh_symbol());
    return tables_.intern(type);
  }

 private:
  bool forget(TypeId to) {
    type_ = to;
    return false;
  }

  graph::Tables& tables_;
  TypeId type_;
  std::vector<bool> free_;
};

class Bodies {
 public:
  Bodies(graph::Tables& tables, const pb::NodeProto& node, std::span<const Operand> operands, int rounds,
         const BuildBody& build)
      : tables_(tables),
        node_(node),
        operands_(operands),
        rounds_(rounds),
        build_(build),
        types_(static_cast<std::size_t>(node.output_size()), tables.type_none()) {}

  TypeList run() {
    if (node_.op_type() == "If")
      branches();
    else if (node_.op_type() == "Loop")
      loop();
    else
      scan();
    return types_;
  }

 private:
  TypeId input(std::size_t i) const {
    return i < operands_.size() && operands_[i].present ? operands_[i].type : tables_.type_none();
  }

  /// An element type never changes, so where the outer value has none the body's own word counts.
  TypeId with_dtype(TypeId type, const pb::ValueInfoProto& declared) {
    if (tables_.type(type).dtype != DType::undefined) return type;
    const DType dtype = tables_.type(declared_type(tables_, declared.type())).dtype;
    return tables_.intern(TensorType{dtype, false, {}});
  }

  std::optional<std::int64_t> known(std::size_t i) const {
    if (i >= operands_.size() || operands_[i].value == graph::WeightId::none) return std::nullopt;
    const auto values = graph::integer_values(tables_, operands_[i].value, 1);
    return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
  }

  void branches() {
    const auto condition = known(0);
    bool first = true;
    for (const std::string_view name : {"then_branch", "else_branch"}) {
      const int at = body_at(node_, name);
      if (at < 0) continue;
      const bool taken = !condition || (*condition != 0) == (name == "then_branch");
      const auto given = build_(at, {taken ? 1.0 : 0.0, {}}, {});
      if (!taken) continue;
      for (std::size_t k = 0; k < types_.size(); ++k) {
        const TypeId type = k < given.size() ? given[k] : tables_.type_none();
        types_[k] = first ? type : join_types(tables_, types_[k], type);
      }
      first = false;
    }
  }

  void loop() {
    const int at = body_at(node_, "body");
    if (at < 0) return;
    const pb::GraphProto& body = node_.attribute(at).g();
    Runs runs{kGuessedTrips, {}};
    if (const auto trips = known(0); trips && *trips < kLargestTrips)
      runs.times = static_cast<double>(std::max<std::int64_t>(0, *trips));
    TypeList before;
    for (int i = 0; i < std::min(2, body.input_size()); ++i)
      before.push_back(declared_type(tables_, body.input(i).type()));
    std::vector<Carried> carried;
    for (int i = 2; i < body.input_size(); ++i)
      carried.emplace_back(tables_, with_dtype(input(static_cast<std::size_t>(i)), body.input(i)));
    const auto given = settle(at, runs, before, carried, {}, 1);
    for (std::size_t k = carried.size(); k < types_.size() && k + 1 < given.size(); ++k)
      types_[k] = tables_.intern(TensorType{tables_.type(given[k + 1]).dtype, false, {}});
  }

  void scan() {
    const int at = body_at(node_, "body");
    const auto counts = integers(node_, "num_scan_inputs");
    if (at < 0 || counts.size() != 1) return;
    const auto all = static_cast<std::int64_t>(operands_.size());
    if (counts[0] < 1 || counts[0] > all || node_.attribute(at).g().input_size() != all) return;
    const auto states = static_cast<std::size_t>(all - counts[0]);
    std::vector<Carried> carried;
    const auto typed = [&](std::size_t i) {
      return with_dtype(input(i), node_.attribute(at).g().input(static_cast<int>(i)));
    };
    for (std::size_t i = 0; i < states; ++i) carried.emplace_back(tables_, typed(i));
    Runs runs{kGuessedTrips, {}};
    TypeList slices;
    for (std::size_t i = states; i < operands_.size(); ++i)
      slices.push_back(slice(typed(i), axis("scan_input_axes", i - states), runs));
    const auto given = settle(at, runs, {}, carried, slices, 0);
    for (std::size_t k = states; k < types_.size() && k < given.size(); ++k)
      types_[k] = stack(given[k], axis("scan_output_axes", k - states), runs);
  }

  std::int64_t axis(std::string_view name, std::size_t i) const {
    const auto axes = integers(node_, name);
    return i < axes.size() ? axes[i] : 0;
  }

  /// One element of a scanned value; the length of the axis is how often the body runs.
  TypeId slice(TypeId whole, std::int64_t axis, Runs& runs) {
    TensorType type = tables_.type(whole);
    if (!type.ranked) return whole;
    const auto rank = static_cast<std::int64_t>(type.rank());
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return tables_.type_none();
    runs = {1, {type.dims[static_cast<std::size_t>(axis)]}};
    type.dims.erase(static_cast<std::size_t>(axis));
    return tables_.intern(type);
  }

  /// What a body gives, from all of its runs.
  TypeId stack(TypeId element, std::int64_t axis, const Runs& runs) {
    TensorType type = tables_.type(element);
    if (type.ranked && axis < 0) axis += static_cast<std::int64_t>(type.rank()) + 1;
    if (!type.ranked || axis < 0 || axis > static_cast<std::int64_t>(type.rank()))
      return tables_.intern(TensorType{type.dtype, false, {}});
    graph::Dims dims;
    for (std::size_t i = 0; i <= type.rank(); ++i) {
      if (i == static_cast<std::size_t>(axis))
        dims.push_back(runs.lengths.empty() ? fresh() : runs.lengths[0]);
      if (i < type.rank()) dims.push_back(graph::is_symbol(type.dims[i]) ? fresh() : type.dims[i]);
    }
    type.dims = dims;
    return tables_.intern(type);
  }

  Dim fresh() { return graph::symbol_dim(tables_.fresh_symbol()); }

  /// Builds the body until it gives its carried values back as it took them; then their types hold in each
  /// run. `skipped` outputs come before them.
  std::vector<TypeId> settle(int at, const Runs& runs, const TypeList& before, std::vector<Carried>& carried,
                             const TypeList& after, std::size_t skipped) {
    for (int round = 0;; ++round) {
      const bool last = round >= rounds_;
      if (last)
        for (Carried& value : carried) value.forget_rank();
      TypeList inputs = before;
      for (const Carried& value : carried) inputs.push_back(value.type());
      for (const TypeId type : after) inputs.push_back(type);
      const auto given = build_(at, runs, inputs);
      bool settled = true;
      for (std::size_t i = 0; i < carried.size(); ++i) {
        const TypeId back = i + skipped < given.size() ? given[i + skipped] : tables_.type_none();
        if (!carried[i].keep(back)) settled = false;
      }
      if (settled || last) {
        for (std::size_t k = 0; k < carried.size() && k < types_.size(); ++k) types_[k] = carried[k].last();
        return given;
      }
    }
  }

  graph::Tables& tables_;
  const pb::NodeProto& node_;
  std::span<const Operand> operands_;
  int rounds_;
  const BuildBody& build_;
  TypeList types_;
};

}  // namespace

bool has_known_bodies(const pb::NodeProto& node, std::int64_t opset) {
  if (node.op_type() == "Scan") return opset >= kFirstOpsetOfPlainScan;
  return node.op_type() == "If" || node.op_type() == "Loop";
}

TypeList build_bodies(graph::Tables& tables, const pb::NodeProto& node, std::span<const Operand> operands,
                      int depth, const BuildBody& build) {
  return Bodies(tables, node, operands, depth < kDepthOfShapes ? kRounds : 0, build).run();
}

}
