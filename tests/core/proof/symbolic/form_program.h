#pragma once

#include <z3++.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/proof/exact/exact_tensor.h"
#include "core/proof/symbolic/symbolic_value.h"

namespace regraft::proof::testing {

/// The prover's expressions and normal forms, translated once and then computed for many values of the names
/// in them: integers without Z3's own arithmetic, reals exactly (exact.h). Tensors of indices are
/// functions.
class FormProgram {
 public:
  using Slot = std::size_t;  // of a name

  Slot slot(const z3::expr& name) { return node(name); }
  void set(Slot slot, std::int64_t value) { nodes_[slot].value = value; }
  void set(const std::string& tensor, const ExactTensor* value) { tensors_[tensor] = value; }
  /// Sums go over so many values of their variables; guards keep them in range.
  void set_most(std::int64_t most) { most_ = most; }

  /// Integers and conditions; translated when they are first seen.
  std::size_t node(const z3::expr& e) {
    const auto held = by_id_.find(Z3_get_ast_id(e.ctx(), e));
    if (held != by_id_.end()) return held->second;
    Node made{e.decl().decl_kind(), 0, {}, {}};
    if (e.is_numeral_i64(made.value)) made.kind = Z3_OP_ANUM;
    const bool name = made.kind == Z3_OP_UNINTERPRETED;
    if (name && e.num_args() > 0) made.tensor = e.decl().name().str();
    for (unsigned i = 0; i < e.num_args(); ++i) made.args.push_back(node(e.arg(i)));
    nodes_.push_back(std::move(made));
    kept_.push_back(e);
    return by_id_[Z3_get_ast_id(e.ctx(), e)] = nodes_.size() - 1;
  }

  std::int64_t integer(std::size_t i) const {
    const Node& n = nodes_[i];
    const auto arg = [&](std::size_t k) { return integer(n.args[k]); };
    switch (n.kind) {
      case Z3_OP_ANUM:
        return n.value;
      case Z3_OP_TRUE:
        return 1;
      case Z3_OP_FALSE:
        return 0;
      case Z3_OP_UNINTERPRETED:
        return n.args.empty() && n.tensor.empty() ? n.value : element(n);
      case Z3_OP_ITE:
        return arg(arg(0) != 0 ? 1 : 2);
      case Z3_OP_AND:
        for (std::size_t k = 0; k < n.args.size(); ++k)
          if (arg(k) == 0) return 0;
        return 1;
      case Z3_OP_OR:
        for (std::size_t k = 0; k < n.args.size(); ++k)
          if (arg(k) != 0) return 1;
        return 0;
      case Z3_OP_IMPLIES:
        return arg(0) == 0 || arg(1) != 0;
      case Z3_OP_NOT:
        return arg(0) == 0;
      case Z3_OP_UMINUS:
        return -arg(0);
      default:
        return folded(n);
    }
  }

  struct Form;
  struct Factor {
    std::string name;
    std::vector<std::size_t> index;
    std::vector<Form> args;
    bool fixed = false;                 // the same for all values of the sum's variables
    mutable std::optional<Exact> held;  // then, while that sum is computed
  };
  struct Term {
    Exact coefficient;
    std::vector<Slot> bounds;
    std::vector<std::vector<std::size_t>> guards;  // by how many bounds must be known
    std::vector<Factor> factors;
  };
  struct Form {
    std::vector<Term> terms;
  };

  Form translated(const Poly& poly) {
    Form out;
    for (const Summand& s : poly.terms) {
      Term term{Exact::of(s.numerator) / Exact::of(s.denominator), {}, {}, {}};
      term.guards.resize(s.bounds.size() + 1);
      for (const z3::expr& bound : s.bounds) term.bounds.push_back(node(bound));
      for (const z3::expr& guard : s.guards) add_guard(guard, term);
      for (const Atom& atom : s.factors) {
        Factor factor{atom.name, {}, {}, false, {}};
        factor.fixed = std::ranges::none_of(
            s.bounds, [&](const z3::expr& bound) { return depends(atom, bound.decl().name().str()); });
        for (const z3::expr& i : atom.index) factor.index.push_back(node(i));
        for (const Poly& arg : atom.args) factor.args.push_back(translated(arg));
        term.factors.push_back(std::move(factor));
      }
      out.terms.push_back(std::move(term));
    }
    return out;
  }

  /// `function` computes atoms that are no element of a tensor.
  template <typename Function>
  Exact real(const Form& form, const Function& function) {
    Exact sum;
    for (const Term& term : form.terms) add_sum(term, 0, function, sum);
    return sum;
  }

  /// An element of a tensor, or a function of `args()` and integers.
  template <typename Function, typename Args>
  Exact atom(const std::string& name, const std::vector<std::size_t>& index, const Function& function,
             const Args& args) const {
    const auto tensor = tensors_.find(name);
    if (tensor != tensors_.end()) return at(*tensor->second, index);
    if (name == "one_over") return Exact::of(1.0) / Exact::of(integer(index.at(0)));
    const std::vector<Exact> values = args();
    return name == "inverse" ? Exact::of(1.0) / values.at(0) : function(name, values);
  }

 private:
  struct Node {
    Z3_decl_kind kind;
    std::int64_t value;
    std::string tensor;
    std::vector<std::size_t> args;
  };

  std::int64_t folded(const Node& n) const {
    std::int64_t a = integer(n.args[0]);
    for (std::size_t k = 1; k < n.args.size(); ++k) {
      const std::int64_t b = integer(n.args[k]);
      const auto rest = [&] { return ((a % b) + b) % b; };
      const bool divides = n.kind == Z3_OP_IDIV || n.kind == Z3_OP_MOD;
      if (divides && b <= 0) throw std::runtime_error("a divisor that is not positive");
      switch (n.kind) {
        case Z3_OP_ADD:
          a += b;
          break;
        case Z3_OP_SUB:
          a -= b;
          break;
        case Z3_OP_MUL:
          a *= b;
          break;
        case Z3_OP_IDIV:
          a = (a - rest()) / b;
          break;
        case Z3_OP_MOD:
          a = rest();
          break;
        case Z3_OP_EQ:
          return a == b;
        case Z3_OP_LE:
          return a <= b;
        case Z3_OP_LT:
          return a < b;
        case Z3_OP_GE:
          return a >= b;
        case Z3_OP_GT:
          return a > b;
        default:
          throw std::runtime_error("an operation that is not known here");
      }
    }
    return a;
  }

  const Exact& at(const ExactTensor& tensor, const std::vector<std::size_t>& index) const {
    std::int64_t flat = 0;
    if (!index.empty() && index.size() != tensor.dims.size()) throw std::runtime_error("of another rank");
    for (std::size_t d = 0; d < index.size(); ++d) {
      const std::int64_t i = integer(index[d]);
      if (i < 0 || i >= tensor.dims[d]) throw std::runtime_error("a place outside of its tensor");
      flat = flat * tensor.dims[d] + i;
    }
    return tensor.values[static_cast<std::size_t>(flat)];
  }

  std::int64_t element(const Node& n) const {
    return static_cast<std::int64_t>(at(*tensors_.at(n.tensor), n.args).rough);
  }

  bool depends(const z3::expr& e, const std::string& name) const {
    if (e.is_const()) return !e.is_numeral() && e.decl().name().str() == name;
    for (unsigned i = 0; i < e.num_args(); ++i)
      if (depends(e.arg(i), name)) return true;
    return false;
  }

  bool depends(const Atom& atom, const std::string& name) const {
    const auto holds = [&](const z3::expr& e) { return depends(e, name); };
    return std::ranges::any_of(atom.index, holds) || std::ranges::any_of(atom.args, [&](const Poly& arg) {
             return std::ranges::any_of(arg.terms, [&](const Summand& term) {
               return std::ranges::any_of(term.guards, holds) ||
                      std::ranges::any_of(term.factors, [&](const Atom& a) { return depends(a, name); });
             });
           });
  }

  void add_guard(const z3::expr& guard, Term& term) {
    if (guard.is_app() && guard.decl().decl_kind() == Z3_OP_AND) {
      for (unsigned i = 0; i < guard.num_args(); ++i) add_guard(guard.arg(i), term);
      return;
    }
    std::size_t known = 0;
    for (std::size_t b = 0; b < term.bounds.size(); ++b)
      if (depends(guard, kept_[term.bounds[b]].decl().name().str())) known = b + 1;
    term.guards[known].push_back(node(guard));
  }

  template <typename Function>
  void add_sum(const Term& term, std::size_t known, const Function& function, Exact& sum) {
    for (const Factor& factor : term.factors)
      if (known == 0) factor.held.reset();
    for (std::size_t guard : term.guards[known])
      if (integer(guard) == 0) return;
    if (known < term.bounds.size()) {
      for (std::int64_t k = 0; k < most_; ++k) {
        set(term.bounds[known], k);
        add_sum(term, known + 1, function, sum);
      }
      return;
    }
    Exact product = term.coefficient;
    for (const Factor& factor : term.factors)
      product = product * (factor.fixed ? held(factor, function) : value(factor, function));
    sum = sum + product;
  }

  template <typename Function>
  const Exact& held(const Factor& factor, const Function& function) {
    if (!factor.held) factor.held = value(factor, function);
    return *factor.held;
  }

  template <typename Function>
  Exact value(const Factor& factor, const Function& function) {
    return atom(factor.name, factor.index, function, [&] {
      std::vector<Exact> args;
      for (const Form& arg : factor.args) args.push_back(real(arg, function));
      return args;
    });
  }

  std::vector<Node> nodes_;
  std::deque<z3::expr> kept_;  // numbers of expressions stay theirs
  std::unordered_map<unsigned, std::size_t> by_id_;
  std::map<std::string, const ExactTensor*> tensors_;
  std::int64_t most_ = 0;
};

}
