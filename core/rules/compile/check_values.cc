#include "core/rules/compile/check_values.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/graph/known_texts.h"
#include "core/rules/compile/constant_folder.h"
#include "core/rules/compile/op_names.h"

namespace regraft::rules {
namespace {

using graph::Attr;
using graph::OpKind;

std::optional<Attr> attr_of_item(OpKind kind, const AttrItem& item, std::size_t position) {
  return item.name.empty() ? attr_at(kind, position) : attr_of(kind, item.name);
}

/// The name of a tensor, or of each of a list of them.
const std::string* tensor_name(const Expr& e) {
  const bool wraps = e.form == Expr::Form::spread || e.form == Expr::Form::optional;
  if (wraps) return tensor_name(e.args[0]);
  return e.form == Expr::Form::name ? &e.text : nullptr;
}

std::string dims_text(std::int64_t rank) {
  return std::to_string(rank) + (rank == 1 ? " dim" : " dims");
}

class ValueCheck {
 public:
  ValueCheck(const RuleText& text, const KindOf& kind_of, const RuleReporter& reporter)
      : text_(text), kind_of_(kind_of), reporter_(reporter), constants_(text) {}

  void run() {
    for (const Clause& clause : text_.left) {
      if (clause.targets.empty()) note_ranks(clause.value);
      note_texts(clause.value);
    }
    for (const Clause& clause : text_.left) look_at(clause.value);
    on_left_ = false;
    for (const Clause& clause : text_.right) look_at(clause.value);
  }

 private:
  // rank(x) == 2, rank(x) <= 3, rank(x) in {2, 4}: no more than so many dims.
  void note_ranks(const Expr& guard) {
    if (guard.form != Expr::Form::infix) return;
    if (guard.text == "and") {
      for (const Expr& part : guard.args) note_ranks(part);
      return;
    }
    static const std::map<std::string, std::string> kTurned = {
        {"==", "=="}, {"<", ">"}, {"<=", ">="}, {">", "<"}, {">=", "<="}};
    note_rank(guard.args[0], guard.text, guard.args[1]);
    if (const auto turned = kTurned.find(guard.text); turned != kTurned.end())
      note_rank(guard.args[1], turned->second, guard.args[0]);
  }

  void note_rank(const Expr& rank, const std::string& compare, const Expr& bound) {
    const bool of_tensor = rank.form == Expr::Form::call && rank.text == "rank" && rank.args.size() == 1;
    const std::string* name = of_tensor ? tensor_name(rank.args[0]) : nullptr;
    const bool in_set = compare == "in" && bound.form == Expr::Form::set && !bound.args.empty();
    if (!name || !(compare == "==" || compare == "<" || compare == "<=" || in_set)) return;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < (in_set ? bound.args.size() : 1); ++i) {
      const Quantity value = constants_.value(in_set ? bound.args[i] : bound);
      if (value.kind != Quantity::Kind::integer || value.integer > kMostRank) return;
      most = std::max(most, value.integer - (compare == "<" ? 1 : 0));
    }
    const auto [held, added] = ranks_.emplace(*name, most);
    if (!added) held->second = std::min(held->second, most);
  }

  // Which names take the value of a text attribute.
  void note_texts(const Expr& e) {
    for (const Expr& arg : e.args) note_texts(arg);
    const auto kind = e.form == Expr::Form::operation ? kind_of_(e) : std::nullopt;
    for (std::size_t i = 0; kind && i < e.attrs.size(); ++i) {
      const auto attr = attr_of_item(*kind, e.attrs[i], i);
      const Expr& value = e.attrs[i].value;
      if (attr && value.form == Expr::Form::name && !graph::known_texts(*kind, *attr).empty())
        texts_.emplace(value.text, std::pair(*kind, *attr));
    }
  }

  void look_at(const Expr& e) {
    const bool hides =
        e.form == Expr::Form::comprehension && (constants_.names(e.text) || ranks_.contains(e.text));
    if (hides) return;  // its variable is not what the name is elsewhere
    for (const Expr& arg : e.args) look_at(arg);
    for (const AttrItem& item : e.attrs) look_at(item.value);
    if (e.form == Expr::Form::infix) check_infix(e);
    if (e.form == Expr::Form::dim) check_dim(e);
    if (e.form != Expr::Form::operation && e.form != Expr::Form::call) return;
    const auto kind = kind_of_(e);
    if (!kind) return;
    if (*kind == OpKind::div && e.args.size() == 2) check_divisor(e.args[1], e.args[1].at);
    if (*kind == OpKind::reciprocal && e.args.size() == 1) check_divisor(e.args[0], e.args[0].at);
    for (std::size_t i = 0; i < e.attrs.size(); ++i) {
      const auto attr = attr_of_item(*kind, e.attrs[i], i);
      if (!attr) continue;
      check_text(e.attrs[i].value, *kind, *attr);
      check_known(e.attrs[i].value, *attr);
      if (*attr == Attr::axis || *attr == Attr::axes || *attr == Attr::perm)
        check_axes(e, *kind, *attr, e.attrs[i].value);
    }
  }

  void check_infix(const Expr& e) {
    if (e.text == "/" || e.text == "%") return check_divisor(e.args[1], e.at);
    if (e.text == "==" || e.text == "!=") {
      check_compared(e.args[0], e.args[1]);
      check_compared(e.args[1], e.args[0]);
    }
    if (e.text == "in" && e.args[1].form == Expr::Form::set)
      for (const Expr& item : e.args[1].args) check_compared(e.args[0], item);
  }

  void check_divisor(const Expr& divisor, Position at) {
    if (constants_.has_zero(divisor)) reporter_.fail(at, "a division by zero", "divide by something else");
  }

  void check_compared(const Expr& name, const Expr& with) {
    const auto held = name.form == Expr::Form::name ? texts_.find(name.text) : texts_.end();
    if (held != texts_.end()) check_text(with, held->second.first, held->second.second);
  }

  void check_text(const Expr& e, OpKind kind, Attr attr) {
    if (e.form == Expr::Form::conditional) {
      check_text(e.args[1], kind, attr);
      return check_text(e.args[2], kind, attr);
    }
    const Quantity value = constants_.value(e);
    const auto known = graph::known_texts(kind, attr);
    if (value.kind != Quantity::Kind::text || known.empty()) return;
    if (std::ranges::find(known, value.text) != known.end()) return;
    const std::string all = join(std::vector<std::string>(known.begin(), known.end()), ", ");
    reporter_.fail(e.at,
                   "'" + value.text + "' is no " + std::string(graph::attr_name(attr)) + " of " +
                       std::string(graph::op_info(kind).name),
                   nearest(value.text, known, "one of " + all));
  }

  void check_known(const Expr& e, Attr attr) {
    const Quantity value = constants_.value(e);
    if (attr == Attr::perm && value.kind == Quantity::Kind::list) {
      List sorted = value.list;
      std::ranges::sort(sorted);
      for (std::size_t i = 0; i < sorted.size(); ++i)
        if (sorted[i] != static_cast<std::int64_t>(i))
          reporter_.fail(e.at, "a perm that is no permutation",
                         "write each of 0 to " + std::to_string(sorted.size() - 1) + " once");
    }
    if (attr == Attr::to && value.kind == Quantity::Kind::integer &&
        (value.integer < 1 || value.integer > kLastType))
      reporter_.fail(e.at, std::to_string(value.integer) + " is no element type of ONNX", "as in to=float32");
  }

  void check_axes(const Expr& e, OpKind kind, Attr attr, const Expr& axes) {
    const Quantity value = constants_.value(axes);
    List list = value.list;
    if (value.kind == Quantity::Kind::integer) list.push_back(value.integer);
    if (value.kind != Quantity::Kind::integer && value.kind != Quantity::Kind::list) return;
    if (on_left_ && attr == Attr::axis && !list.empty() && list[0] < 0)
      reporter_.fail(axes.at,
                     "an axis of a pattern counts from the front, so that a negative one is never found",
                     "write rank(x) - 1 for the last of x");
    const std::string* name = e.args.empty() ? nullptr : tensor_name(e.args[0]);
    const auto held = name ? ranks_.find(*name) : ranks_.end();
    if (held == ranks_.end()) return;
    std::int64_t room = held->second;
    if (kind == OpKind::flatten) ++room;  // behind the last
    if (kind == OpKind::unsqueeze) room += static_cast<std::int64_t>(list.size());
    for (const std::int64_t axis : list)
      if (axis >= room || axis < -room) beyond(axes.at, "axis " + std::to_string(axis), *name, held->second);
  }

  void check_dim(const Expr& e) {
    const std::string* name = tensor_name(e.args[0]);
    const auto held = name ? ranks_.find(*name) : ranks_.end();
    const Quantity number = constants_.value(e.args[1]);
    if (held == ranks_.end() || number.kind != Quantity::Kind::integer) return;
    if (number.integer >= held->second || number.integer < -held->second)
      beyond(e.args[1].at, "dim " + std::to_string(number.integer), *name, held->second);
  }

  void beyond(Position at, const std::string& what, const std::string& name, std::int64_t rank) {
    reporter_.fail(at, what + ", where a guard says that '" + name + "' has at most " + dims_text(rank),
                   "the first is 0; mend the number or the guard");
  }

  static constexpr std::int64_t kLastType = 26;       // onnx.TensorProto.DataType.INT2
  static constexpr std::int64_t kMostRank = 1 << 20;  // what is above bounds nothing

  const RuleText& text_;
  const KindOf& kind_of_;
  const RuleReporter& reporter_;
  ConstantFolder constants_;
  std::map<std::string, std::int64_t> ranks_;             // of tensors, at most
  std::map<std::string, std::pair<OpKind, Attr>> texts_;  // names bound by a text attribute
  bool on_left_ = true;
};

}  // namespace

void check_values(const RuleText& text, const KindOf& kind_of, const RuleReporter& reporter) {
  ValueCheck(text, kind_of, reporter).run();
}

}
