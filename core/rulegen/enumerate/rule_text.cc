#include "core/rulegen/enumerate/rule_text.h"

#include <algorithm>
#include <optional>
#include <set>

namespace regraft::rulegen {
namespace {

using A = graph::Attr;
using K = graph::OpKind;

std::string listed(const std::vector<std::string>& parts, const char* between = ", ") {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : between) + part;
  return out;
}

std::string leaf_name(Ref ref) {
  return "x" + std::to_string(ref.leaf_number());
}

[[noreturn]] void refuse(const std::string& why) {
  throw RulegenError(why, "rule language", "");
}

bool has_window(K kind) {
  return kind == K::conv || kind == K::max_pool || kind == K::average_pool;
}
bool has_axis(K kind) {
  return kind == K::concat || kind == K::split;
}

// Numbers for equal things, in the order in which they appear.
template <typename Thing>
class Numbering {
 public:
  std::size_t of(const Thing& thing) {
    const auto held = std::find(things_.begin(), things_.end(), thing);
    if (held == things_.end()) return things_.push_back(thing), things_.size() - 1;
    return static_cast<std::size_t>(held - things_.begin());
  }

 private:
  std::vector<Thing> things_;
};

class Writer {
 public:
  Writer(const TermRule& rule, const std::vector<Form>& forms, const TextOptions& options)
      : rule_(rule), forms_(forms), options_(options) {}

  std::string run() {
    const std::vector<int> left = leaves_of(rule_.left), right = leaves_of(rule_.right);
    if (!std::includes(left.begin(), left.end(), right.begin(), right.end()))
      refuse("the right side reads a tensor that the left side does not have");
    if (!is_connected(rule_.left)) refuse("the left side falls apart: any two such nodes would match");
    std::vector<std::string> clauses;
    for (std::size_t n = 0; n < rule_.left.nodes.size(); ++n) clauses.push_back(left_node(n));
    for (std::string& guard : rank_guards()) clauses.push_back(std::move(guard));
    clauses.insert(clauses.end(), options_.guards.begin(), options_.guards.end());
    return listed(clauses, "; ") + " => " + right_side();
  }

 private:
  // Equal windows share their variables.
  std::string window_key(const Form& form) {
    return has_window(form.kind) ? std::to_string(numbers_.of({form.kind, form.attrs})) : "";
  }

  static std::string left_name(Ref ref) {
    if (ref.is_leaf()) return leaf_name(ref);
    return "n" + std::to_string(ref.node()) + (ref.port() > 0 ? "b" : "");
  }

  std::string left_node(std::size_t n) {
    const TermNode& node = rule_.left.nodes[n];
    const Form& form = forms_[node.form];
    if (form.constant != Form::Constant::none) refuse("a constant on the left side that no guard can name");
    const int number = static_cast<int>(n);
    std::string out = left_name(Ref::output(number));
    if (form.outputs > 1) out = "(" + out + ", " + left_name(Ref::output(number, 1)) + ")";
    std::vector<std::string> operands;
    for (Ref input : node.inputs) operands.push_back(left_name(input));
    return out + " = " + left_op(node.form, n) + "(" + listed(operands) + ")";
  }

  std::string left_op(std::uint16_t number, std::size_t n) {
    const Form& form = forms_[number];
    const std::string name(graph::op_info(form.kind).name), key = window_key(form);
    if (has_window(form.kind)) {
      windows_.insert(key);
      const std::string group = form.kind == K::conv ? ", g=g" + std::to_string(n) : "";
      if (form.kind == K::conv && options_.any_window)
        return name + "{k=k" + key + ", s=s" + key + ", p=p" + key + ", d=d" + key + group + "}";
      if (options_.any_window) return "f" + key + ":" + name + "{*}";
      return name + "{" + literal_window(form) + group + "}";
    }
    if (form.kind == K::split) return name + "{" + axis(number, true) + ", s" + std::to_string(n) + "}";
    if (form.kind == K::concat) return name + "{" + axis(number, true) + "}";
    return name + literals(form);
  }

  static std::string literal_window(const Form& form) {
    std::string out = "k=" + graph::to_string(form.attrs.ints(A::kernel_shape)) +
                      ", s=" + graph::to_string(form.attrs.ints(A::strides)) +
                      ", p=" + graph::to_string(form.attrs.ints(A::pads));
    if (form.kind == K::conv) out += ", d=[1, 1]";
    if (form.kind == K::average_pool)
      out += ", count_include_pad=" + std::to_string(form.attrs.integer(A::count_include_pad));
    return out;
  }

  static std::string literals(const Form& form) {
    std::vector<std::string> parts;
    for (const auto& [attr, value] : form.attrs.entries())
      parts.push_back(std::string(graph::attr_name(attr)) + "=" + graph::to_string(value));
    return parts.empty() ? "" : "{" + listed(parts) + "}";
  }

  std::string axis_variable(const std::string& value) const {
    return "a" + std::to_string(axis_numbers_.of(value));
  }

  // An axis as a variable, or as the number it is.
  std::string axis(std::uint16_t number, bool left) {
    const Form& form = forms_[number];
    const std::string value = std::to_string(form.attrs.integer(A::axis));
    if (!options_.any_axis) return "axis=" + value;
    const std::string variable = axis_variable(value);
    if (left) axes_.insert(variable);
    if (!axes_.contains(variable)) refuse("an axis of the right side that the left side does not have");
    return variable;
  }

  std::vector<std::string> rank_guards() const {
    const auto fixed = [&](const TermNode& n) {
      return has_axis(forms_[n.form].kind) || forms_[n.form].kind == K::transpose ||
             forms_[n.form].kind == K::pad || forms_[n.form].constant != Form::Constant::none;
    };
    const auto& l = rule_.left.nodes;
    const auto& r = rule_.right.nodes;
    std::vector<std::string> out;
    const bool any = !options_.any_axis &&
                     (std::any_of(l.begin(), l.end(), fixed) || std::any_of(r.begin(), r.end(), fixed));
    for (int leaf : leaves_of(rule_.left)) {
      const int rank = rule_.ranks[static_cast<std::size_t>(leaf)];
      if (rank == 0 || (any && rank != kAnyRank))
        out.push_back("rank(x" + std::to_string(leaf) + ") == " + std::to_string(rank));
    }
    return out;
  }

  std::string right_name(Ref ref) {
    if (ref.is_leaf()) return leaf_name(ref);
    const auto& roots = rule_.right.roots;
    const auto at = std::find(roots.begin(), roots.end(), ref);
    if (at != roots.end()) return left_name(rule_.left.roots[static_cast<std::size_t>(at - roots.begin())]);
    return "m" + std::to_string(ref.node()) + (ref.port() > 0 ? "b" : "");
  }

  std::string right_side() {
    std::vector<std::string> clauses;
    for (std::size_t n = 0; n < rule_.right.nodes.size(); ++n)
      clauses.push_back(right_node(static_cast<int>(n)));
    for (std::size_t i = 0; i < rule_.right.roots.size(); ++i) {
      const std::string name = left_name(rule_.left.roots[i]), value = right_name(rule_.right.roots[i]);
      if (name != value) clauses.push_back(name + " = " + value);
    }
    return listed(clauses, "; ");
  }

  std::string right_node(int n) {
    const TermNode& node = rule_.right.nodes[static_cast<std::size_t>(n)];
    const Form& form = forms_[node.form];
    std::string out = right_name(Ref::output(n));
    if (form.outputs > 1) out = "(" + out + ", " + right_name(Ref::output(n, 1)) + ")";
    if (form.constant != Form::Constant::none) return out + " = " + constant(n);
    std::vector<std::string> operands;
    for (Ref input : node.inputs) operands.push_back(right_name(input));
    return out + " = " + right_op(n) + "(" + listed(operands) + ")";
  }

  std::string right_op(int n) {
    const TermNode& node = rule_.right.nodes[static_cast<std::size_t>(n)];
    const Form& form = forms_[node.form];
    const std::string name(graph::op_info(form.kind).name), key = window_key(form);
    if (has_window(form.kind)) {
      if (options_.any_window && !windows_.contains(key)) refuse("a window that the left side does not have");
      const std::string group = form.kind == K::conv ? ", g=" + group_of(node) : "";
      if (!options_.any_window) return name + "{" + literal_window(form) + group + "}";
      if (form.kind != K::conv) return "f" + key;
      return name + "{k=k" + key + ", s=s" + key + ", p=p" + key + ", d=d" + key + group + "}";
    }
    if (form.kind == K::split) return name + "{" + axis(node.form, false) + ", " + split_sizes(n) + "}";
    if (form.kind == K::concat) return name + "{" + axis(node.form, false) + "}";
    return name + literals(form);
  }

  // Sizes of the parts: those of what they replace.
  std::string split_sizes(int n) {
    std::vector<std::string> sizes;
    const TermNode& node = rule_.right.nodes[static_cast<std::size_t>(n)];
    for (int port = 0; port < 2; ++port) {
      const auto& roots = rule_.right.roots;
      const auto at = std::find(roots.begin(), roots.end(), Ref::output(n, port));
      if (at == roots.end()) return left_sizes(node);
      const std::string name = left_name(rule_.left.roots[static_cast<std::size_t>(at - roots.begin())]);
      sizes.push_back("dims(" + name + ")[" + axis_number(node.form) + "]");
    }
    return "[" + listed(sizes) + "]";
  }
  // Else those of the one split of the left side along the same axis.
  std::string left_sizes(const TermNode& node) const {
    std::vector<std::string> found;
    for (std::size_t n = 0; n < rule_.left.nodes.size(); ++n) {
      if (rule_.left.nodes[n].form == node.form) found.push_back("s" + std::to_string(n));
    }
    if (found.size() != 1) refuse("the sizes of a split that the left side does not determine");
    return found[0];
  }
  std::string axis_number(std::uint16_t form) const {
    const std::string value = std::to_string(forms_[form].attrs.integer(A::axis));
    return options_.any_axis ? axis_variable(value) : value;
  }

  std::string group_of(const TermNode& node) const {
    return dim(node.inputs[0], 1) + " / " + dim(node.inputs[1], 1);
  }

  // An expression for one dim of a tensor of the right side.
  std::string dim(Ref ref, std::int64_t axis) const {
    if (ref.is_leaf()) return leaf_name(ref) + "." + std::to_string(axis);
    const TermNode& node = rule_.right.nodes[static_cast<std::size_t>(ref.node())];
    const Form& form = forms_[node.form];
    if (form.constant == Form::Constant::average) return "1";
    switch (form.kind) {
      case K::concat:
        if (form.attrs.integer(A::axis) == axis)
          return "(" + dim(node.inputs[0], axis) + " + " + dim(node.inputs[1], axis) + ")";
        return dim(node.inputs[0], axis);
      case K::conv:
        if (axis > 1) break;
        return axis == 0 ? dim(node.inputs[0], 0) : dim(node.inputs[1], 0);
      case K::add:
      case K::mul:
      case K::relu:
        return dim(node.inputs[0], axis);
      case K::max_pool:
      case K::average_pool:
      case K::pad:
        if (axis > 1) break;
        return dim(node.inputs[0], axis);
      default:
        break;
    }
    refuse("a shape that the left side does not determine");
  }

  // A constant is made to fit the node that reads it.
  std::string constant(int n) {
    const Form& form = forms_[rule_.right.nodes[static_cast<std::size_t>(n)].form];
    for (const TermNode& user : rule_.right.nodes) {
      if (user.inputs.size() != 2 || user.inputs[1] != Ref::output(n)) continue;
      const std::string like = right_name(user.inputs[0]);
      if (form.constant == Form::Constant::average && forms_[user.form].kind == K::conv) {
        const std::string kernel = graph::to_string(forms_[user.form].attrs.ints(A::kernel_shape));
        return "Full([" + dim(user.inputs[0], 1) + ", 1] ++ " + kernel + ", 1.0 / prod(" + kernel + "), " +
               first_leaf() + ")";
      }
      refuse("a constant for " + like + " that the rule language cannot write");
    }
    refuse("a constant whose shape the left side does not determine");
  }
  std::string first_leaf() const { return "x" + std::to_string(leaves_of(rule_.left).front()); }

  const TermRule& rule_;
  const std::vector<Form>& forms_;
  const TextOptions& options_;
  std::set<std::string> windows_, axes_;  // what the left side binds
  Numbering<std::pair<K, graph::AttrBlock>> numbers_;
  mutable Numbering<std::string> axis_numbers_;
};

}  // namespace

std::string rule_text(const std::string& name, const TermRule& rule, const std::vector<Form>& forms,
                      const TextOptions& options) {
  return name + ": " + Writer(rule, forms, options).run();
}

std::string operands_are_matrices(const TermRule& rule, const std::vector<Form>& forms) {
  std::set<int> leaves;
  for (const TermNode& node : rule.left.nodes) {
    if (forms[node.form].kind != K::matmul) continue;
    for (const Ref input : node.inputs)
      if (input.is_leaf()) leaves.insert(input.leaf_number());
  }
  std::vector<std::string> parts;
  for (const int leaf : leaves) parts.push_back("rank(x" + std::to_string(leaf) + ") >= 2");
  return listed(parts, " and ");
}

namespace {

// Operands that are joined of two parts each, of which the first must be as long: one guard a pair of joins.
std::vector<std::string> joined_alike(const TermRule& rule, const std::vector<Form>& forms) {
  const auto first_part = [&](Ref ref) -> std::optional<Ref> {
    if (ref.is_leaf()) return std::nullopt;
    const TermNode& node = rule.left.nodes[static_cast<std::size_t>(ref.node())];
    const bool joins = forms[node.form].kind == K::concat && node.inputs[0].is_leaf();
    return joins ? std::optional(node.inputs[0]) : std::nullopt;
  };
  std::vector<std::string> out;
  for (const TermNode& node : rule.left.nodes) {
    const K kind = forms[node.form].kind;
    if (kind != K::add && kind != K::mul && kind != K::concat) continue;
    const auto a = first_part(node.inputs[0]), b = first_part(node.inputs[1]);
    if (a && b && a != b) out.push_back("dims(" + leaf_name(*a) + ") == dims(" + leaf_name(*b) + ")");
  }
  return out;
}

// Axes that a rule says nothing of may be one axis.
std::vector<std::string> different_axes(const TermRule& rule, const std::vector<Form>& forms) {
  std::set<std::int64_t> axes;
  for (const TermNode& node : rule.left.nodes)
    if (has_axis(forms[node.form].kind)) axes.insert(forms[node.form].attrs.integer(A::axis));
  return axes.size() == 2 ? std::vector<std::string>{"a0 != a1"} : std::vector<std::string>{};
}

}  // namespace

std::vector<std::string> guard_candidates(const TermRule& rule, const std::vector<Form>& forms,
                                          bool any_axis) {
  std::vector<std::string> groups, shapes, out;
  for (std::size_t n = 0; n < rule.left.nodes.size(); ++n) {
    const TermNode& node = rule.left.nodes[n];
    if (forms[node.form].kind != K::conv) continue;
    groups.push_back("g" + std::to_string(n));
    if (node.inputs[1].is_leaf()) shapes.push_back("x" + std::to_string(node.inputs[1].leaf_number()));
  }
  if (const std::string matrices = operands_are_matrices(rule, forms); !matrices.empty())
    out.push_back(matrices);
  const auto all = [&](const std::vector<std::string>& names, auto text) {
    std::vector<std::string> parts;
    for (std::size_t i = 1; i < names.size(); ++i) parts.push_back(text(names[i - 1], names[i]));
    if (!parts.empty()) out.push_back(listed(parts, " and "));
  };
  all(shapes, [](const std::string& a, const std::string& b) { return a + ".0 == " + b + ".0"; });
  all(groups, [](const std::string& a, const std::string& b) { return a + " == " + b; });
  std::vector<std::string> ones;
  for (const std::string& g : groups) ones.push_back(g + " == 1");
  if (!ones.empty()) out.push_back(listed(ones, " and "));
  for (std::size_t n = 0; n < rule.left.nodes.size(); ++n) {
    const TermNode& node = rule.left.nodes[n];
    const K kind = forms[node.form].kind;
    if ((kind != K::add && kind != K::mul) || !node.inputs[0].is_leaf() || !node.inputs[1].is_leaf())
      continue;
    const auto name = [](Ref r) { return "dims(x" + std::to_string(r.leaf_number()) + ")"; };
    out.push_back(name(node.inputs[0]) + " == " + name(node.inputs[1]));
  }
  for (std::string& guard : joined_alike(rule, forms)) out.push_back(std::move(guard));
  if (any_axis)
    for (std::string& guard : different_axes(rule, forms)) out.push_back(std::move(guard));
  return out;
}

}
