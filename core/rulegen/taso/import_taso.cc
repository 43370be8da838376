#include "core/rulegen/taso/import_taso.h"

#include <algorithm>
#include <map>

#include "core/rulegen/enumerate/check_examples.h"

namespace regraft::rulegen {
namespace {

using A = graph::Attr;
using K = graph::OpKind;
using Ints = std::vector<std::int64_t>;

constexpr std::int32_t kSamePadding = 0, kNoActivation = 0, kRelu = 2;
constexpr std::int32_t kMostDims = 8;  // of a tensor: far above any rule that could be matched

[[noreturn]] void refuse(const std::string& why) {
  throw RulegenError(why, "TASO rule", "");
}

std::int32_t rank_of(const TasoOp& op, const std::string& name) {
  const std::int32_t rank = op.parameter(TasoKey::rank);
  if (rank < 1 || rank > kMostDims) refuse("a " + name + " of rank " + std::to_string(rank));
  return rank;
}

std::int64_t axis_of(const TasoOp& op, const std::string& name, std::int32_t rank) {
  const std::int32_t axis = op.parameter(TasoKey::axis);
  if (axis < 0 || axis >= rank)
    refuse("a " + name + " along axis " + std::to_string(axis) + " of " + std::to_string(rank));
  return axis;
}

Form concat_form(const TasoOp& op) {
  const std::int64_t axis = axis_of(op, "Concat", rank_of(op, "Concat"));
  return {.name = "concat", .kind = K::concat, .attrs = {{A::axis, axis}}, .inputs = 2};
}

// A Split says nothing of its rank.
Form split_form(const TasoOp& op) {
  if (op.parameter(TasoKey::outputs) != 2) refuse("a Split in other than two parts");
  const std::int64_t axis = axis_of(op, "Split", kMostDims);
  return {.name = "split", .kind = K::split, .attrs = {{A::axis, axis}}, .outputs = 2};
}

Form conv_form(const TasoOp& op) {
  Form form{.name = "conv", .kind = K::conv, .inputs = 2};
  if (op.parameter(TasoKey::padding) != kSamePadding) refuse("a padding other than 'same'");
  const std::int32_t activation = op.parameter(TasoKey::activation);
  if (activation != kNoActivation && activation != kRelu) refuse("an activation other than Relu");
  form.relu = activation == kRelu;
  const Ints kernel = {op.parameter(TasoKey::kernel_height), op.parameter(TasoKey::kernel_width)};
  const bool odd =
      std::all_of(kernel.begin(), kernel.end(), [](auto k) { return k > 0 && k < 32 && k % 2 == 1; });
  if (!odd) refuse("a kernel whose padding cannot be the same on both sides");
  form.attrs = {{A::kernel_shape, kernel},
                {A::strides, Ints{op.parameter(TasoKey::stride_height), op.parameter(TasoKey::stride_width)}},
                {A::pads, Ints{kernel[0] / 2, kernel[1] / 2, kernel[0] / 2, kernel[1] / 2}},
                {A::dilations, Ints{1, 1}}};
  return form;
}

Form transpose_form(const TasoOp& op) {
  const std::int32_t rank = rank_of(op, "Transpose");
  Ints perm(static_cast<std::size_t>(rank));
  std::int32_t packed = op.parameter(TasoKey::permutation);
  for (std::size_t i = perm.size(); i-- > 0; packed /= rank) perm[i] = packed % rank;
  return {.name = "transpose", .kind = K::transpose, .attrs = {{A::perm, perm}}};
}

Form form_of(const TasoOp& op) {
  switch (static_cast<TasoType>(op.type)) {
    case TasoType::conv:
      return conv_form(op);
    case TasoType::relu:
      return {.name = "relu", .kind = K::relu};
    case TasoType::sigmoid:
      return {.name = "sigmoid", .kind = K::sigmoid};
    case TasoType::tanh:
      return {.name = "tanh", .kind = K::tanh};
    case TasoType::concat:
      return concat_form(op);
    case TasoType::split:
      return split_form(op);
    case TasoType::transpose:
      return transpose_form(op);
    case TasoType::add:
      return {.name = "add", .kind = K::add, .inputs = 2};
    case TasoType::multiply:
    case TasoType::scale:
      return {.name = "mul", .kind = K::mul, .inputs = 2};
    case TasoType::matmul:
      if (op.parameter(TasoKey::activation) != kNoActivation) refuse("a matrix product with an activation");
      return {.name = "matmul", .kind = K::matmul, .inputs = 2};
    default:
      refuse("an op of type " + std::to_string(op.type) + ", which is not imported");
  }
}

bool same(const Form& a, const Form& b) {
  return a.kind == b.kind && a.attrs == b.attrs && a.relu == b.relu;
}

std::uint16_t number_of(const Form& form, std::vector<Form>& forms) {
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (same(forms[i], form)) return static_cast<std::uint16_t>(i);
  }
  forms.push_back(form);
  return static_cast<std::uint16_t>(forms.size() - 1);
}

// Ranks that ops of a side give to its leaves, by going over it until nothing changes.
class Ranks {
 public:
  explicit Ranks(std::size_t leaves) : leaves_(leaves, kAnyRank) {}
  const std::vector<int>& leaves() const { return leaves_; }

  void read(const std::vector<TasoOp>& ops, const Term& term) {
    std::vector<int> nodes(ops.size(), kAnyRank);
    const auto of = [&](Ref r) -> int& {
      return r.is_leaf() ? leaves_[static_cast<std::size_t>(r.leaf_number())]
                         : nodes[static_cast<std::size_t>(r.node())];
    };
    for (std::size_t round = 0; round <= 2 * ops.size(); ++round) {
      for (std::size_t i = 0; i < ops.size(); ++i) {
        const auto type = static_cast<TasoType>(ops[i].type);
        int rank = nodes[i];
        if (type == TasoType::conv) rank = 4;
        if (type == TasoType::concat) rank = rank_of(ops[i], "Concat");
        if (type == TasoType::scale) {
          of(term.nodes[i].inputs[1]) = 0;
          continue;
        }
        for (Ref input : term.nodes[i].inputs) rank = std::max(rank, of(input));
        nodes[i] = rank;
        for (Ref input : term.nodes[i].inputs) of(input) = rank;
      }
    }
  }

 private:
  std::vector<int> leaves_;
};

Term side(const std::vector<TasoOp>& ops, std::map<std::int32_t, int>& leaves, bool source,
          std::vector<Form>& forms) {
  Term term;
  for (const TasoOp& op : ops) {
    const Form form = form_of(op);
    TermNode node{number_of(form, forms), {}};
    for (const TasoTensor& input : op.inputs) {
      if (input.op >= 0) {
        if (input.port >= form_of(ops[static_cast<std::size_t>(input.op)]).outputs)
          refuse("an output that its op does not have");
        node.inputs.push_back(Ref::output(input.op, input.port));
        continue;
      }
      if (!source && !leaves.contains(input.op))
        refuse("the right side reads a tensor that the left does not");
      node.inputs.push_back(
          Ref::leaf(leaves.try_emplace(input.op, static_cast<int>(leaves.size())).first->second));
    }
    if (node.inputs.size() != form.inputs) refuse("an op with a wrong number of operands");
    term.nodes.push_back(std::move(node));
  }
  return term;
}

}  // namespace

TermRule taso_term(const TasoRule& rule, std::vector<Form>& forms) {
  std::map<std::int32_t, int> leaves;
  TermRule out;
  out.left = side(rule.source, leaves, true, forms);
  out.right = side(rule.target, leaves, false, forms);
  for (const TasoOutput& output : rule.outputs) {
    out.left.roots.push_back(Ref::output(output.source.op, output.source.port));
    out.right.roots.push_back(Ref::output(output.target.op, output.target.port));
  }
  Ranks ranks(leaves.size());
  ranks.read(rule.source, out.left);
  out.ranks = ranks.leaves();
  const std::uint16_t relu = number_of({.name = "relu", .kind = K::relu}, forms);
  return normal_form(out, forms, relu);
}

namespace {

TasoOutcome import_one(const TermRule& rule, const std::vector<Form>& forms, std::size_t number,
                       const rules::RuleSet& known, const TasoOptions& options) {
  using Status = TasoOutcome::Status;
  TasoOutcome out;
  out.number = number;
  const std::string name = "taso-" + std::to_string(number);
  const CheckOptions check{.wanted = options.examples, .seed = options.seed + number};
  TextOptions text;
  if (const std::string matrices = operands_are_matrices(rule, forms); !matrices.empty())
    text.guards.push_back(matrices);
  const CheckedRule found = find_sound_text(name, rule, forms, {text}, check);
  out.counterexample = found.counterexample;
  if (found.text.empty()) {
    out.reason = found.counterexample.empty() ? found.problem : "unsound, and none of the guards tried helps";
    return out;
  }
  out.text = found.text;
  out.examples = found.compared;
  out.status = found.guards.empty() ? Status::imported : Status::guarded;
  for (const std::string& guard : found.guards) out.reason += (out.reason.empty() ? "" : "; ") + guard;
  const rules::RuleSet one = rules::RuleSet::parse(out.text + "\n", name);
  for (const bool constant : {false, true}) {
    for (std::size_t steps = 1; steps <= options.derivation_steps && out.known.empty(); ++steps) {
      if (auto names = find_derivation(known, one, rule, forms, steps, constant, options.seed)) {
        out.known = std::move(*names);
        out.known_for_constants = constant;
      }
    }
  }
  return out;
}

}  // namespace

TasoImport import_taso(const std::vector<TasoRule>& rules, const rules::RuleSet& known,
                       const TasoOptions& options) {
  TasoImport out;
  std::vector<Form> forms;  // of all rules, so that equal rules have equal terms
  std::map<TermRule, std::size_t> first;
  const auto refused = [&](std::size_t number, const std::string& reason) {
    TasoOutcome outcome;
    outcome.number = number;
    outcome.reason = reason;
    return outcome;
  };
  for (std::size_t i = 0; i < rules.size(); ++i) {
    TermRule rule;
    try {
      rule = taso_term(rules[i], forms);
    } catch (const RulegenError& e) {
      out.outcomes.push_back(refused(i, e.problem()));
      continue;
    }
    const auto [at, added] = first.try_emplace(rule, i);
    if (rule.left == rule.right) {
      out.outcomes.push_back(refused(i, "both sides are one graph once fused activations are written out"));
    } else if (!added) {
      const std::string same = "taso-" + std::to_string(at->second);
      out.outcomes.push_back(refused(i, "the same as " + same + " once fused activations are written out"));
      out.outcomes.back().counterexample = out.outcomes[at->second].counterexample;
    } else {
      out.outcomes.push_back(import_one(rule, forms, i, known, options));
    }
  }
  return out;
}

}
