#pragma once

#include <z3++.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/graph/evaluate.h"
#include "core/proof/symbolic/symbolic_value.h"

namespace regraft::proof::testing {

/// What the prover's expressions and normal forms are once all names in them have numbers: slow, obvious, and
/// without Z3's own arithmetic. Names of tensors stand for their elements, "t0" in forms, and as functions of
/// an index in expressions.
class Numbers {
 public:
  using Int = std::optional<std::int64_t>;  // nothing: some name in it has no number (yet)

  void set(const z3::expr& name, std::int64_t value) { names_[id(name)] = value; }
  void erase(const z3::expr& name) { names_.erase(id(name)); }
  void set(const std::string& tensor, graph::HostTensor value) { tensors_[tensor] = std::move(value); }
  const graph::HostTensor& tensor(const std::string& name) const { return tensors_.at(name); }
  /// Sums go over so many values of their variables; guards keep them in range.
  void set_most(std::int64_t most) { most_ = most; }

  Int integer(const z3::expr& e) const {
    std::int64_t number = 0;
    if (e.is_numeral_i64(number)) return number;
    const Z3_decl_kind kind = e.decl().decl_kind();
    if (kind == Z3_OP_TRUE || kind == Z3_OP_FALSE) return kind == Z3_OP_TRUE;
    if (kind == Z3_OP_UNINTERPRETED) return named(e);
    std::vector<Int> args;
    bool known = true;
    for (unsigned i = 0; i < e.num_args(); ++i) {
      args.push_back(integer(e.arg(i)));
      known = known && args.back().has_value();
      if (kind == Z3_OP_AND && args.back() == 0) return 0;
      if (kind == Z3_OP_OR && args.back() == 1) return 1;
    }
    if (kind == Z3_OP_ITE && args[0]) return args[*args[0] != 0 ? 1 : 2];
    return known ? Int(applied(kind, args, e)) : std::nullopt;
  }

  double real(const Poly& form) {
    double sum = 0;
    for (const Summand& term : form.terms) sum += sum_of(term, 0);
    return sum;
  }

 private:
  static unsigned id(const z3::expr& name) { return Z3_get_ast_id(name.ctx(), name); }

  static std::int64_t applied(Z3_decl_kind kind, const std::vector<Int>& args, const z3::expr& e) {
    const std::int64_t a = *args[0], b = args.size() > 1 ? *args[1] : 0;
    std::int64_t all = a;
    for (std::size_t i = 1; i < args.size(); ++i) {
      if (kind == Z3_OP_ADD) all += *args[i];
      if (kind == Z3_OP_SUB) all -= *args[i];
      if (kind == Z3_OP_MUL) all *= *args[i];
    }
    switch (kind) {
      case Z3_OP_ADD:
      case Z3_OP_SUB:
      case Z3_OP_MUL:
        return all;
      case Z3_OP_UMINUS:
        return -a;
      case Z3_OP_IDIV:
        return (a - ((a % b) + b) % b) / b;  // of positive b: rounds down
      case Z3_OP_MOD:
        return ((a % b) + b) % b;
      case Z3_OP_AND:
        return 1;
      case Z3_OP_OR:
        return 0;
      case Z3_OP_NOT:
        return a == 0;
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
      case Z3_OP_IMPLIES:
        return a == 0 || b != 0;
      default:
        throw std::runtime_error("no number for " + e.to_string());
    }
  }

  Int named(const z3::expr& e) const {
    if (e.num_args() == 0) {
      const auto held = names_.find(id(e));
      return held == names_.end() ? std::nullopt : Int(held->second);
    }
    const graph::HostTensor& tensor = tensors_.at(e.decl().name().str());
    Index index;
    for (unsigned i = 0; i < e.num_args(); ++i) index.push_back(e.arg(i));
    const auto at = place(tensor, index);
    return at ? Int(tensor.integer.at(*at)) : std::nullopt;
  }

  std::optional<std::size_t> place(const graph::HostTensor& tensor, const Index& index) const {
    if (index.size() != tensor.dims.size()) throw std::runtime_error("an index of another rank");
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      const Int i = integer(index[d]);
      if (!i) return std::nullopt;
      if (*i < 0 || *i >= tensor.dims[d])
        throw std::runtime_error("a place outside: " + index[d].to_string());
      flat = flat * tensor.dims[d] + *i;
    }
    return static_cast<std::size_t>(flat);
  }

  // A guard prunes as soon as it is known not to hold.
  double sum_of(const Summand& term, std::size_t bound) {
    for (const z3::expr& guard : term.guards) {
      if (integer(guard) == 0) return 0;
    }
    if (bound == term.bounds.size()) {
      double product = static_cast<double>(term.numerator) / static_cast<double>(term.denominator);
      for (const Atom& atom : term.factors) product *= real(atom);
      return product;
    }
    double sum = 0;
    for (std::int64_t k = 0; k < most_; ++k) {
      set(term.bounds[bound], k);
      sum += sum_of(term, bound + 1);
    }
    erase(term.bounds[bound]);
    return sum;
  }

  double real(const Atom& atom) {
    if (atom.name == "inverse") return 1 / real(atom.args.at(0));
    if (atom.name == "one_over") return 1 / static_cast<double>(integer(atom.index.at(0)).value());
    if (atom.name == "Sqrt") return std::sqrt(real(atom.args.at(0)));
    if (atom.name == "Exp") return std::exp(real(atom.args.at(0)));
    const graph::HostTensor& tensor = tensors_.at(atom.name);
    return tensor.real.at(place(tensor, atom.index).value());
  }

  std::unordered_map<unsigned, std::int64_t> names_;
  std::map<std::string, graph::HostTensor> tensors_;
  std::int64_t most_ = 0;
};

}
