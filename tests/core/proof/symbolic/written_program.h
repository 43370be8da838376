#pragma once

#include <z3++.h>

#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/proof/exact/exact.h"
#include "core/proof/symbolic/form_program.h"
#include "core/proof/symbolic/written.h"

namespace regraft::proof::testing {

/// Values as the definitions write them, for whole equalities (written.h), translated once
/// and then computed for many values of the names in them, as those of `program`. Each node is computed by
/// what its form says; with the normal form it shares integers and atoms alone.
class WrittenProgram {
 public:
  explicit WrittenProgram(FormProgram& program) : program_(program) {}

  /// Not for nothing.
  std::size_t node(const WrittenRef& value) {
    const auto held = by_value_.find(value.get());
    if (held != by_value_.end()) return held->second;
    Node made{value, {}, {}};
    for (const z3::expr& i : value->index) made.index.push_back(program_.node(i));
    for (const WrittenRef& arg : value->args) made.args.push_back(node(arg));
    nodes_.push_back(std::move(made));
    return by_value_[value.get()] = nodes_.size() - 1;
  }

  /// `function` computes atoms that are no element of a tensor.
  template <typename Function>
  Exact real(std::size_t i, const Function& function) {
    const Node& n = nodes_[i];
    const auto arg = [&](std::size_t k) { return real(n.args.at(k), function); };
    switch (n.value->form) {
      case Written::Form::number:
        return Exact::of(n.value->numerator) / Exact::of(n.value->denominator);
      case Written::Form::atom:
        return program_.atom(n.value->name, n.index, function, [&] {
          std::vector<Exact> args;
          for (std::size_t k = 0; k < n.args.size(); ++k) args.push_back(arg(k));
          return args;
        });
      case Written::Form::add:
        return arg(0) + arg(1);
      case Written::Form::multiply:
        return arg(0) * arg(1);
      case Written::Form::negate:
        return -arg(0);
      case Written::Form::guarded:
        return program_.integer(n.index.at(0)) != 0 ? arg(0) : Exact{};
      case Written::Form::sum:
        return sum(n, arg);
    }
    throw std::runtime_error("a form that is not known here");
  }

 private:
  struct Node {
    WrittenRef value;
    std::vector<FormProgram::Slot> index;
    std::vector<std::size_t> args;
  };

  // The variable keeps its value outside of the sum.
  template <typename Arg>
  Exact sum(const Node& n, const Arg& arg) {
    const FormProgram::Slot variable = n.index.at(0);
    const std::int64_t outside = program_.integer(variable), extent = program_.integer(n.index.at(1));
    Exact out;
    for (std::int64_t k = 0; k < extent; ++k) {
      program_.set(variable, k);
      out = out + arg(0);
    }
    program_.set(variable, outside);
    return out;
  }

  FormProgram& program_;
  std::vector<Node> nodes_;
  std::unordered_map<const Written*, std::size_t> by_value_;
};

}
