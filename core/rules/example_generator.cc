#include "core/rules/example_generator.h"

#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "core/rules/example_attributes.h"
#include "core/rules/example_hints.h"
#include "core/rules/example_shapes.h"

namespace regraft::rules {
namespace {

using graph::Value;

// Pow is to the exact evaluator a function about which it knows nothing, and so is Tanh.
constexpr std::array kFewOps = {graph::OpKind::relu, graph::OpKind::tanh, graph::OpKind::sub,
                                graph::OpKind::max, graph::OpKind::add};

class ExampleGenerator {
 public:
  ExampleGenerator(const CompiledRule& rule, GraphBuilder& builder, Choices& choices,
                   const ExampleLimits& limits)
      : rule_(rule),
        b_(builder),
        choices_(choices),
        limits_(limits),
        hints_(rule, choices),
        shapes_(choices, limits) {
    for (std::size_t d = 0; d < rule_.domains.size(); ++d) {
      const std::size_t least = rule_.domains[d].siblings ? 2 : 1;
      counts_.push_back(least + below(limits_.most_members + 1 - least));
    }
  }

  bool make() {
    try {
      for (std::size_t n : pattern_order(rule_)) {
        const PatternNode& node = rule_.nodes[n];
        const std::size_t members = node.domain < 0 ? 1 : counts_[static_cast<std::size_t>(node.domain)];
        for (std::size_t m = 0; m < members; ++m) {
          if (!add(node, m)) return false;
        }
      }
    } catch (const graph::GraphError&) {
      return false;
    }
    for (const auto& [key, value] : values_) {
      if (!value.present()) continue;
      const graph::OpKind kind = b_.graph().node(value.node).kind;
      const bool op = kind != graph::OpKind::input && kind != graph::OpKind::weight;
      if (op && b_.graph().use_count(value) == 0) b_.output(value);
    }
    return true;
  }

 private:
  using Dims = std::vector<std::int64_t>;
  using K = graph::OpKind;
  using A = graph::Attr;
  struct Key {
    std::int16_t domain;
    std::uint16_t index;
    std::size_t member;
    auto operator<=>(const Key&) const = default;
  };

  std::size_t below(std::size_t n) { return choices_.below(n); }
  std::int64_t pick(Dims from) { return choices_.pick(std::move(from)); }
  bool one_in(std::size_t n) { return choices_.one_in(n); }
  // Few binary digits, so that float32 holds it and what rules make of it.
  double real(double low, double high) { return std::round(64 * b_.rng().uniform(low, high)) / 64; }
  static Key key(Slot s, std::size_t member) { return {s.domain, s.index, s.domain < 0 ? 0 : member}; }

  K kind_of(const PatternNode& node) {
    if (node.op) {
      const auto held = ops_.find(key(*node.op, 0));
      if (held != ops_.end()) return held->second.first;
    }
    std::vector<K> kinds;
    for (std::size_t k = 0; k < node.kinds.size(); ++k) {
      const K kind = static_cast<K>(k);
      const bool plain = kind != K::cast && kind != K::logical_not && kind != K::logical_and &&
                         kind != K::logical_or && kind != K::log && kind != K::sqrt && kind != K::pow;
      const bool wanted =
          !limits_.few_ops || std::find(kFewOps.begin(), kFewOps.end(), kind) != kFewOps.end();
      if (node.kinds.test(k) && (node.kinds.count() < 4 || (plain && wanted))) kinds.push_back(kind);
    }
    return kinds[below(kinds.size())];
  }

  bool add(const PatternNode& node, std::size_t member) {
    const K kind = kind_of(node);
    std::vector<Value> inputs;
    for (const OperandPattern& operand : node.operands) {
      const std::size_t count = operand.sequence ? counts_[static_cast<std::size_t>(operand.slot.domain)] : 1;
      for (std::size_t i = 0; i < count; ++i) {
        const Key k = key(operand.slot, operand.sequence ? i : member);
        if (!values_.contains(k)) {
          if (operand.optional && one_in(2)) absent_[{k.domain, k.index, 0}] = true;
          const bool absent = operand.optional && absent_.contains({k.domain, k.index, 0});
          values_[k] = absent ? Value{} : leaf(kind, inputs, node, k);
        }
        inputs.push_back(values_[k]);
      }
    }
    graph::AttrBlock attrs = attributes(kind, node, member, inputs);
    if (node.op) ops_.try_emplace(key(*node.op, 0), kind, attrs);
    if (kind == K::gather && !gather_indices(attrs, node, member, inputs)) return false;
    const graph::NodeId id = b_.node(kind, inputs, attrs);
    bind_outputs(node, member, id);
    return true;
  }

  void bind_outputs(const PatternNode& node, std::size_t member, graph::NodeId id) {
    for (std::uint32_t i = 0; i < b_.graph().node(id).outputs.size(); ++i) {
      const bool sequence = node.outputs[0].sequence;
      if (!sequence && i >= node.outputs.size()) break;
      values_[key(node.outputs[sequence ? 0 : i].slot, sequence ? i : member)] = {id, i};
    }
  }

  Dims dims_of(Value v) const {
    const auto& dims = b_.graph().type(v).dims;
    return Dims(dims.begin(), dims.end());
  }

  Value tensor(const Key& k, const Dims& dims) {
    const RuleHints::OfTensor hint = hints_.tensor({k.domain, k.index});
    if (hint.value) return b_.scalar(*hint.value);
    if (hint.scalar && !one_in(4)) {
      return b_.literal(one_in(2) ? Dims{} : Dims{1}, {static_cast<float>(real(0.3, 2))});
    }
    const bool constant = hint.constant || (!hint.varies && limits_.constants_vary && one_in(8));
    return constant ? b_.weight(dims, 0.3, 1.5) : b_.input(dims);
  }

  // A new tensor as the next operand of an operation whose earlier operands are given.
  Value leaf(K kind, const std::vector<Value>& given, const PatternNode& node, const Key& k) {
    if (kind == K::gather && given.size() == 1) return {};  // made once the axis is known
    const auto rank = hints_.tensor({k.domain, k.index}).rank;
    if (given.empty() && node.operands.size() > 1) {
      // An earlier operand that must fit a later one that exists already.
      for (const OperandPattern& other : node.operands) {
        const auto held = values_.find(key(other.slot, k.member));
        if (held != values_.end() && held->second.present()) {
          return tensor(k, shapes_.fitting_first(kind, dims_of(held->second), rank.value_or(0)));
        }
      }
    }
    std::vector<Dims> earlier;
    for (Value v : given) earlier.push_back(v.present() ? dims_of(v) : Dims{});
    return tensor(k, given.empty() ? shapes_.first_dims(kind, rank) : shapes_.next_dims(kind, earlier, rank));
  }

  // What is given already needs no choice.
  bool settled(const PatternNode& node, std::size_t member, A attr) const {
    for (const auto& [required, value] : node.required) {
      if (required == attr) return true;
    }
    for (const auto& [bound, slot] : node.attrs) {
      if (bound != attr) continue;
      const bool listed = attr != A::axes && hints_.elements(slot).size() > 1;
      if (listed || quantities_.contains(key(slot, member))) return true;
    }
    return false;
  }

  graph::AttrBlock attributes(K kind, const PatternNode& node, std::size_t member,
                              const std::vector<Value>& inputs) {
    if (node.op) {
      const auto held = ops_.find(key(*node.op, 0));
      if (held != ops_.end()) return held->second.second;
    }
    graph::AttrBlock attrs;
    for (const graph::AttrSpec& spec : graph::op_info(kind).attrs) {
      if (settled(node, member, spec.attr)) continue;
      if (auto value = some_attr(kind, spec, node, inputs)) attrs.set(spec.attr, *value);
    }
    for (const auto& [attr, value] : node.required) attrs.set(attr, value);
    for (graph::Attr attr : node.absent) attrs.erase(attr);
    for (const auto& [attr, slot] : node.attrs) {
      const Key k = key(slot, member);
      const auto* drawn = attrs.find(attr);
      const graph::Ints list = hints_.elements(slot);
      if (!drawn && list.size() > 1 && attr != A::axes) attrs.set(attr, list);
      const bool is_list = drawn && std::holds_alternative<graph::Ints>(*drawn);
      if (const auto wanted = hints_.attribute(slot)) {
        if (wanted->kind == Quantity::Kind::integer && is_list) {
          attrs.set(attr, graph::Ints(std::get<graph::Ints>(*drawn).size(), wanted->integer));
        } else if (auto literal = wanted->as_attr(attr)) {
          attrs.set(attr, *literal);
        }
      }
      if (!list.empty() && is_list && (attr != A::axes || list.size() == 1)) attrs.set(attr, list);
      if (const auto held = quantities_.find(k); held != quantities_.end()) attrs.set(attr, held->second);
      if (const auto* value = attrs.find(attr)) quantities_[k] = *value;
    }
    return attrs;
  }

  std::optional<graph::AttrValue> some_attr(K kind, const graph::AttrSpec& spec, const PatternNode& node,
                                            const std::vector<Value>& inputs) {
    const Dims x = inputs.empty() || !inputs[0].present() ? Dims{} : dims_of(inputs[0]);
    const auto rank = static_cast<std::int64_t>(x.size());
    const std::size_t spatial = x.size() > 2 ? x.size() - 2 : 0;
    const bool window = kind == K::conv;
    switch (spec.attr) {
      case A::kernel_shape:
        return window ? shapes_.kernel() : shapes_.each(spatial, {1, 2, 3});
      case A::strides:
        return shapes_.each(spatial, {1, 1, 2});
      case A::pads:
        return kind == K::pad ? graph::Ints(2 * x.size(), 1) : shapes_.each(2 * spatial, {0, 0, 1});
      case A::dilations:
        return shapes_.each(spatial, {1, 1, 1, 2});
      case A::group:
        return shapes_.group();
      case A::alpha:
      case A::beta:
        return one_in(2) ? 1.0 : real(0.5, 2);
      case A::epsilon:
        return real(0.02, 0.1);
      case A::trans_a:
        return std::int64_t{0};
      case A::trans_b:
        return shapes_.trans_b();
      case A::ceil_mode:
        return pick({0, 0, 1});
      case A::count_include_pad:
        return pick({0, 1});
      case A::keepdims:
        return pick({0, 1});
      case A::axis:
        if (kind == K::layer_norm) return rank - 1;
        return rank == 0 ? 0 : static_cast<std::int64_t>(below(static_cast<std::size_t>(rank)));
      case A::axes:
        return some_axes(kind, x, choices_);
      case A::perm:
        return some_permutation(x.size(), choices_);
      case A::shape:
        return some_reshape(x, choices_);
      case A::split:
        return parts(node, x);
      case A::starts:
        return graph::Ints{start_ = x.empty() ? 0 : static_cast<std::int64_t>(below(2))};
      case A::ends:
        return graph::Ints{start_ + pick({1, 2})};
      case A::steps:
        return graph::Ints{1};
      case A::min:
        return one_in(2) ? std::optional<graph::AttrValue>(-0.5) : std::nullopt;
      case A::max:
        return one_in(2) ? std::optional<graph::AttrValue>(0.75) : std::nullopt;
      default:
        return spec.fallback;
    }
  }

  graph::Ints parts(const PatternNode& node, const Dims& x) {
    const std::size_t count = node.outputs[0].sequence
                                  ? counts_[static_cast<std::size_t>(node.outputs[0].slot.domain)]
                                  : node.outputs.size();
    // The axis was set before: attributes come in the order of the op table.
    (void)x;
    graph::Ints sizes(count, pick({1, 1, 2}));
    if (one_in(2)) sizes.back() = 2;
    return sizes;
  }

  bool gather_indices(const graph::AttrBlock& attrs, const PatternNode& node, std::size_t member,
                      std::vector<Value>& inputs) {
    if (inputs[1].present()) return true;
    const Key k = key(node.operands[1].slot, member);
    const Dims x = dims_of(inputs[0]);
    const std::int64_t axis = attrs.integer(A::axis);
    if (axis >= static_cast<std::int64_t>(x.size())) return false;
    const std::int64_t dim = x[static_cast<std::size_t>(axis)];
    if (dim == 0) return false;
    const std::size_t wanted = hints_.tensor({k.domain, k.index}).rank.value_or(one_in(2) ? 1 : 0);
    const bool counts = rule_.is_siblings() || k.domain >= 0;
    const auto index = [&] {
      return counts && !one_in(3) ? static_cast<std::int64_t>(member) % dim
                                  : static_cast<std::int64_t>(below(static_cast<std::size_t>(dim)));
    };
    if (wanted == 0) {
      inputs[1] = b_.integer(index());
    } else if (one_in(3)) {
      graph::Ints all(static_cast<std::size_t>(dim));
      std::iota(all.begin(), all.end(), 0);
      inputs[1] = b_.integers(all);
    } else {
      graph::Ints some(1 + below(2));
      for (std::int64_t& i : some) i = index();
      inputs[1] = b_.integers(some);
    }
    values_[k] = inputs[1];
    return true;
  }

  const CompiledRule& rule_;
  GraphBuilder& b_;
  Choices& choices_;
  const ExampleLimits& limits_;
  RuleHints hints_;
  std::vector<std::size_t> counts_;  // members, by domain
  std::map<Key, Value> values_;
  std::map<Key, graph::AttrValue> quantities_;
  std::map<Key, std::pair<K, graph::AttrBlock>> ops_;
  std::map<Key, bool> absent_;
  ExampleShapes shapes_;
  std::int64_t start_ = 0;
};

bool ready(const CompiledRule& rule, std::size_t node, const std::vector<bool>& done) {
  for (const OperandPattern& operand : rule.nodes[node].operands) {
    for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
      for (const OperandPattern& output : rule.nodes[i].outputs) {
        if (output.slot == operand.slot && !done[i]) return false;
      }
    }
  }
  return true;
}

}  // namespace

std::vector<std::size_t> pattern_order(const CompiledRule& rule) {
  std::vector<std::size_t> order;
  std::vector<bool> done(rule.nodes.size(), false);
  while (order.size() < rule.nodes.size()) {
    for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
      if (done[i] || !ready(rule, i, done)) continue;
      done[i] = true;
      order.push_back(i);
    }
  }
  return order;
}

bool make_example(const CompiledRule& rule, GraphBuilder& builder, Choices& choices,
                  const ExampleLimits& limits) {
  return ExampleGenerator(rule, builder, choices, limits).make();
}

}  // namespace regraft::rules
