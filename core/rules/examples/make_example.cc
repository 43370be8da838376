#include "core/rules/examples/make_example.h"

#include <map>
#include <numeric>
#include <optional>

#include "core/rules/examples/example_leaves.h"
#include "core/rules/examples/example_roles.h"
#include "core/rules/examples/example_shapes.h"
#include "core/rules/examples/example_values.h"
#include "core/rules/examples/rule_hints.h"

namespace regraft::rules {
namespace {

using graph::Value;

class ExampleGenerator {
 public:
  ExampleGenerator(const CompiledRule& rule, graph::GraphBuilder& builder, Choices& choices,
                   const ExampleLimits& limits)
      : rule_(rule),
        b_(builder),
        choices_(choices),
        limits_(limits),
        hints_(rule, choices),
        roles_(rule),
        shapes_(choices, limits, gates_of(rule)),
        leaves_(rule, builder, choices, limits),
        some_(choices, shapes_, leaves_, limits) {
    for (std::size_t d = 0; d < rule_.member_sets.size(); ++d) {
      const std::size_t least = rule_.member_sets[d].siblings ? 2 : 1;
      counts_.push_back(least + below(limits_.most_members + 1 - least));
    }
  }

  bool make() {
    try {
      for (std::size_t n : pattern_order(rule_)) {
        const PatternNode& node = rule_.nodes[n];
        const std::size_t members =
            node.member_set < 0 ? 1 : counts_[static_cast<std::size_t>(node.member_set)];
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
      // What is read inside may be read outside too.
      if (op && (b_.graph().use_count(value) == 0 || choices_.drawn(8) == 0)) b_.output(value);
    }
    if (!rule_.local) add_readers();
    return true;
  }

 private:
  using Dims = std::vector<std::int64_t>;
  using K = graph::OpKind;
  using A = graph::Attr;
  struct Key {
    std::int16_t member_set;
    std::uint16_t index;
    std::size_t member;
    auto operator<=>(const Key&) const = default;
  };

  // Now and then of one value: the rule may count its readers.
  void add_readers() {
    constexpr std::int64_t kMostReaders = 8;
    if (values_.empty() || choices_.drawn(4) > 0) return;
    const Value value =
        std::next(values_.begin(), static_cast<std::ptrdiff_t>(choices_.drawn(values_.size())))->second;
    if (!value.present() || b_.graph().node(value.node).kind == K::weight) return;
    const auto usual = static_cast<std::int64_t>(1 + choices_.drawn(3));
    for (std::int64_t more = shapes_.near_named(kMostReaders).value_or(usual); more > 0; --more)
      b_.output(b_.op(K::identity, {value}));
  }

  // Parts of one tensor, where Sigmoids follow: the gates of a recurrent cell.
  static std::size_t gates_of(const CompiledRule& rule) {
    const auto is = [](const PatternNode& node, K kind) {
      return node.kinds.count() == 1 && node.kinds.test(static_cast<std::size_t>(kind));
    };
    std::map<std::uint16_t, std::size_t> parts;  // by what they are of
    bool squashed = false;
    for (const PatternNode& node : rule.nodes) {
      squashed |= is(node, K::sigmoid);
      if (is(node, K::slice)) ++parts[node.operands[0].slot.index];
    }
    return squashed && !parts.empty() && parts.begin()->second > 2 ? parts.begin()->second : 0;
  }

  std::size_t below(std::size_t n) { return choices_.below(n); }
  bool one_in(std::size_t n) { return choices_.one_in(n); }
  static Key key(Slot s, std::size_t member) {
    return {s.member_set, s.index, s.member_set < 0 ? 0 : member};
  }

  // opaque: of the node's choices none takes the example's elements.
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
      if (node.kinds.test(k) && (node.kinds.count() < 4 || plain) && leaves_.takes(kind))
        kinds.push_back(kind);
    }
    return kinds.empty() ? K::opaque : kinds[below(kinds.size())];
  }

  bool add(const PatternNode& node, std::size_t member) {
    const K kind = kind_of(node);
    if (kind == K::opaque) return false;
    std::vector<Value> inputs;
    for (const OperandPattern& operand : node.operands) {
      const std::size_t count =
          operand.sequence ? counts_[static_cast<std::size_t>(operand.slot.member_set)] : 1;
      for (std::size_t i = 0; i < count; ++i) {
        const Key k = key(operand.slot, operand.sequence ? i : member);
        if (!values_.contains(k)) {
          if (operand.optional && one_in(2)) absent_[{k.member_set, k.index, 0}] = true;
          const bool absent = operand.optional && absent_.contains({k.member_set, k.index, 0});
          values_[k] = absent ? Value{} : leaf(kind, inputs, node, k, member);
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

  // A new tensor as the next operand of an operation whose earlier operands are given.
  Value leaf(K kind, const std::vector<Value>& given, const PatternNode& node, const Key& k,
             std::size_t member) {
    if (kind == K::gather && given.size() == 1) return {};  // made once the axis is known
    const RuleHints::OfTensor hint = hints_.tensor({k.member_set, k.index});
    if (const auto model = given.empty() ? modelled({k.member_set, k.index}, member) : std::nullopt)
      return leaves_.tensor(hint, *model, kind, 0);
    const bool alike = k.member > 0 && (given.empty() || kind != K::concat);
    if (alike && choices_.drawn(4) > (given.empty() ? 0u : 1u)) {
      const auto before = values_.find({k.member_set, k.index, k.member - 1});
      if (before != values_.end() && before->second.present())
        return leaves_.tensor(hint, given.empty() ? like(dims_of(before->second)) : dims_of(before->second),
                              kind, given.size());
    }
    if (given.empty() && node.operands.size() > 1) {
      // An earlier operand that must fit a later one that exists already.
      for (const OperandPattern& other : node.operands) {
        const auto held = values_.find(key(other.slot, k.member));
        if (held != values_.end() && held->second.present())
          return leaves_.tensor(hint, shapes_.fitting_first(kind, dims_of(held->second), hint.rank), kind, 0);
      }
    }
    if (const auto role = roles_.of({k.member_set, k.index}); role && given.empty() && kind != K::conv)
      return leaves_.tensor(hint, shapes_.part_dims(*role, hint.rank), kind, 0);
    std::vector<Dims> earlier;
    for (Value v : given) earlier.push_back(v.present() ? dims_of(v) : Dims{});
    const bool may_transpose = !settled(node, member, A::trans_a);
    return leaves_.tensor(hint,
                          given.empty() ? shapes_.first_dims(kind, hint.rank, may_transpose)
                                        : shapes_.next_dims(kind, earlier, hint.rank),
                          kind, given.size());
  }

  // The dims of the tensor that this one must be like, except for the last.
  std::optional<Dims> modelled(Slot slot, std::size_t member) {
    const auto model = limits_.fitting ? hints_.model(slot) : std::nullopt;
    const auto held = model ? values_.find(key(*model, member)) : values_.end();
    if (held == values_.end() || !held->second.present() || choices_.drawn(6) == 0) return std::nullopt;
    Dims dims = dims_of(held->second);
    if (!dims.empty()) dims.back() = choices_.pick(limits_.dims);
    return dims;
  }

  // A member has the dims of the one before it, but perhaps for one: else many members would hardly fit.
  Dims like(Dims dims) {
    if (!dims.empty() && choices_.drawn(3) == 0)
      dims[choices_.drawn(dims.size())] = choices_.pick(limits_.dims);
    return dims;
  }

  // A list that is as long as the tensor has dims, or twice: guards may speak of some of its elements.
  static bool is_counted(A attr) {
    return attr == A::pads || attr == A::strides || attr == A::dilations || attr == A::kernel_shape ||
           attr == A::repeats || attr == A::perm;
  }

  // Whether the guards say all of a list: of a permutation each element, of others more than one.
  bool listed(A attr, Slot slot) const {
    const std::size_t named = hints_.elements(slot).size();
    if (named < 2 || attr == A::axes) return false;
    return attr == A::perm ? hints_.length(slot) == named : !is_counted(attr);
  }

  // All of a list of an operation's attribute, where the guards say it; else empty.
  graph::Ints given(const PatternNode& node, A attr) const {
    for (const auto& [bound, slot] : node.attrs)
      if (bound == attr && listed(attr, slot)) return hints_.elements(slot);
    return {};
  }

  // What is given already needs no choice.
  bool settled(const PatternNode& node, std::size_t member, A attr) const {
    for (const auto& [required, value] : node.required) {
      if (required == attr) return true;
    }
    for (const auto& [bound, slot] : node.attrs) {
      if (bound != attr) continue;
      if (listed(attr, slot) || quantities_.contains(key(slot, member))) return true;
    }
    return false;
  }

  // The shape of a Reshape where guards say how many dims it makes.
  std::optional<graph::Ints> shape_of_length(const PatternNode& node, const Dims& x) {
    for (const auto& [attr, slot] : node.attrs)
      if (const auto length = hints_.length(slot); attr == A::shape && length && choices_.drawn(6) > 0)
        return shapes_.reshape_to(*length, x);
    return std::nullopt;
  }

  graph::AttrBlock attributes(K kind, const PatternNode& node, std::size_t member,
                              const std::vector<Value>& inputs) {
    if (node.op) {
      const auto held = ops_.find(key(*node.op, 0));
      if (held != ops_.end()) return held->second.second;
    }
    graph::AttrBlock attrs;
    const Dims x = inputs.empty() || !inputs[0].present() ? Dims{} : dims_of(inputs[0]);
    if (kind == K::slice && !given(node, A::starts).empty())
      some_.slice_from(given(node, A::starts), given(node, A::steps));
    if (kind == K::conv && inputs.size() > 1 && inputs[1].present())
      shapes_.read_weight(x, dims_of(inputs[1]));
    const std::size_t outputs = node.outputs[0].sequence
                                    ? counts_[static_cast<std::size_t>(node.outputs[0].slot.member_set)]
                                    : node.outputs.size();
    for (const graph::AttrSpec& spec : graph::op_info(kind).attrs) {
      if (settled(node, member, spec.attr)) continue;
      if (const auto shape = kind == K::reshape ? shape_of_length(node, x) : std::nullopt) {
        attrs.set(spec.attr, *shape);
        continue;
      }
      if (auto value = some_.choose(kind, spec, x, outputs)) attrs.set(spec.attr, *value);
    }
    for (const auto& [attr, value] : node.required) attrs.set(attr, value);
    for (graph::Attr attr : node.absent) attrs.erase(attr);
    for (const auto& [attr, slot] : node.attrs) {
      const Key k = key(slot, member);
      const auto* drawn = attrs.find(attr);
      const graph::Ints list = is_counted(attr) ? graph::Ints{} : hints_.elements(slot);
      if (!drawn && listed(attr, slot)) attrs.set(attr, hints_.elements(slot));
      const bool is_list = drawn && std::holds_alternative<graph::Ints>(*drawn);
      if (const auto wanted = hints_.attribute(slot)) {
        if (wanted->kind == Quantity::Kind::integer && is_list) {
          attrs.set(attr, graph::Ints(std::get<graph::Ints>(*drawn).size(), wanted->integer));
        } else if (auto literal = wanted->as_attr(attr)) {
          attrs.set(attr, *literal);
        }
      }
      const bool of_slice = kind == K::slice && list.size() == given(node, A::starts).size();
      if (!list.empty() && is_list && (attr != A::axes || list.size() == 1 || of_slice))
        attrs.set(attr, list);
      if (is_list && is_counted(attr)) attrs.set(attr, with_elements(attr, attrs.ints(attr), slot));
      if (const auto held = quantities_.find(k); held != quantities_.end()) attrs.set(attr, held->second);
      if (const auto* value = attrs.find(attr)) quantities_[k] = *value;
    }
    return attrs;
  }

  // With the elements that guards ask for at their places; a permutation stays one.
  graph::Ints with_elements(A attr, graph::Ints list, Slot slot) const {
    const std::int64_t size = std::ssize(list);
    for (const auto& [at, value] : hints_.elements_at(slot)) {
      const std::int64_t place = at < 0 ? at + size : at;
      if (place < 0 || place >= size) continue;
      auto& element = list[static_cast<std::size_t>(place)];
      if (const auto other = std::ranges::find(list, value); attr == A::perm && other != list.end())
        std::swap(*other, element);
      else
        element = value;
    }
    return list;
  }

  bool gather_indices(const graph::AttrBlock& attrs, const PatternNode& node, std::size_t member,
                      std::vector<Value>& inputs) {
    const Key k = key(node.operands[1].slot, member);
    const Dims x = dims_of(inputs[0]);
    const std::int64_t axis = attrs.integer(A::axis);
    if (axis >= static_cast<std::int64_t>(x.size())) return false;
    const std::int64_t dim = x[static_cast<std::size_t>(axis)];
    const std::int64_t least = least_dims_.try_emplace(k, dim).first->second;
    if (inputs[1].present()) return dim >= least;
    if (dim == 0) return false;
    inputs[1] = indices(dim, hints_.tensor({k.member_set, k.index}), k.member_set >= 0, member);
    values_[k] = inputs[1];
    return true;
  }

  // Indices of rows, counted from the front or from the end; where no guard asks for constants, also an
  // input.
  Value indices(std::int64_t dim, const RuleHints::OfTensor& hint, bool of_set, std::size_t member) {
    const bool counts = rule_.is_siblings() || of_set;
    const auto index = [&] {
      const std::int64_t at = counts && !one_in(3)
                                  ? static_cast<std::int64_t>(member) % dim
                                  : static_cast<std::int64_t>(below(static_cast<std::size_t>(dim)));
      return choices_.drawn(4) == 0 ? at - dim : at;
    };
    const graph::DType dtype = choices_.drawn(6) == 0 ? graph::DType::int32 : graph::DType::int64;
    const std::size_t rank = hint.rank.exact() ? hint.rank.least
                             : choices_.drawn(8) == 0
                                 ? 2
                                 : std::max<std::size_t>(hint.rank.least, one_in(2) ? 1 : 0);
    if (!hint.constant && !hint.value && choices_.drawn(3) == 0)
      return b_.input(Dims(rank, 1 + static_cast<std::int64_t>(choices_.drawn(2))), dtype);
    if (rank == 0) return b_.integers({}, {index()}, dtype);
    if (rank == 1 && one_in(3)) {
      graph::Ints all(static_cast<std::size_t>(dim));
      std::iota(all.begin(), all.end(), 0);
      if (choices_.drawn(2) == 0)  // in some order
        for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[choices_.drawn(i)]);
      return b_.integers({dim}, from_the_end(all, dim), dtype);
    }
    graph::Ints some(1 + below(2));
    for (std::int64_t& i : some) i = index();
    if (rank == 1 && choices_.drawn(4) == 0)
      for (std::size_t more = 1 + choices_.drawn(2); more > 0; --more)
        some.push_back(static_cast<std::int64_t>(choices_.drawn(static_cast<std::size_t>(dim))));
    const Dims dims = rank == 1 ? Dims{std::ssize(some)} : Dims{1, std::ssize(some)};
    return b_.integers(dims, from_the_end(some, dim), dtype);
  }
  // Many of them at once, now and then.
  graph::Ints from_the_end(graph::Ints rows, std::int64_t dim) {
    if (choices_.drawn(4) > 0) return rows;
    for (std::int64_t& row : rows)
      if (row >= 0 && choices_.drawn(3) > 0) row -= dim;
    return rows;
  }

  const CompiledRule& rule_;
  graph::GraphBuilder& b_;
  Choices& choices_;
  const ExampleLimits& limits_;
  RuleHints hints_;
  ExampleRoles roles_;
  std::vector<std::size_t> counts_;  // members, by member set
  std::map<Key, Value> values_;
  std::map<Key, std::int64_t> least_dims_;  // that indices of a Gather are made for
  std::map<Key, graph::AttrValue> quantities_;
  std::map<Key, std::pair<K, graph::AttrBlock>> ops_;
  std::map<Key, bool> absent_;
  ExampleShapes shapes_;
  ExampleLeaves leaves_;
  ExampleValues some_;
};

}  // namespace

bool make_example(const CompiledRule& rule, graph::GraphBuilder& builder, Choices& choices,
                  const ExampleLimits& limits) {
  return ExampleGenerator(rule, builder, choices, limits).make();
}

}
