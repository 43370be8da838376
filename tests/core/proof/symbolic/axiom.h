#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/rng.h"
#include "core/graph/op.h"
#include "core/graph/tables.h"
#include "core/proof/exact/exact_tensor.h"
#include "core/proof/exact/field.h"
#include "core/proof/symbolic/form_program.h"
#include "core/proof/symbolic/symbolic_rule.h"
#include "core/proof/symbolic/written_program.h"

namespace regraft::proof::testing {

/// One operation on operands of given ranks, all of whose dims and integer attributes are unknown: what the
/// prover says of it, in normal form and as it is written, and what it is for all values of the unknowns.
class Axiom {
 public:
  struct Counts {
    std::size_t shapes = 0, elements = 0;  // that were compared
    std::string problem;                   // the first; empty: none

    Counts& operator+=(const Counts& other) {
      shapes += other.shapes;
      elements += other.elements;
      if (problem.empty()) problem = other.problem;
      return *this;
    }
  };

  Axiom(graph::OpKind kind, std::uint64_t seed)
      : kind_(kind), rng_(seed, "axioms"), choices_(rng_), state_(context_, choices_, 5) {}

  /// An integer that is enumerated.
  z3::expr unknown(std::int64_t least, std::int64_t most) {
    const z3::expr name = state_.fresh("u");
    unknowns_.push_back({program_.slot(name), least, most});
    return name;
  }
  z3::expr number(std::int64_t value) { return state_.number(value); }
  Index unknowns(std::size_t count, std::int64_t least, std::int64_t most) {
    Index out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(unknown(least, most));
    return out;
  }

  const Index& operand(const Index& dims) {
    for (const z3::expr& d : dims) state_.assume(d >= 1);
    const std::string name = "t" + std::to_string(operands_.size());
    SymbolicTensor tensor;
    tensor.dims = dims;
    tensor.at = [name](const Index& index) { return Poly::atom({name, index, {}}); };
    operands_.push_back(tensor);
    return operands_.back().dims;
  }
  const Index& operand(std::size_t rank, std::int64_t most) { return operand(unknowns(rank, 1, most)); }
  /// Rows of the first operand along an axis, counted from the front or from the end.
  void rows(std::size_t rank, std::int64_t most, std::size_t axis) {
    rows_of_ = axis;
    const std::string name = "t" + std::to_string(operands_.size());
    operand(rank, most);
    operands_.back().at = nullptr;
    if (rank == 0) row_ = program_.slot(context_.int_const(name.c_str()));
    operands_.back().integer_at = [this, name](const Index& index) {
      if (index.empty()) return context_.int_const(name.c_str());
      z3::expr_vector args(context_);
      z3::sort_vector sorts(context_);
      for (const z3::expr& i : index) args.push_back(i), sorts.push_back(context_.int_sort());
      return context_.function(name.c_str(), sorts, context_.int_sort())(args);
    };
  }

  void attribute(graph::Attr attr, const z3::expr& integer) {
    attrs_[attr] = quantity_of(integer);
    integers_.push_back({attr, false, {program_.node(integer)}});
  }
  void attribute(graph::Attr attr, const Index& list) {
    attrs_[attr] = quantity_of(list);
    integers_.push_back({attr, true, {}});
    for (const z3::expr& e : list) integers_.back().items.push_back(program_.node(e));
  }
  void attribute(graph::Attr attr, double real) {
    attrs_[attr] = quantity_of(state_, graph::AttrValue(real));
    reals_.emplace_back(attr, real);
  }
  void outputs(std::size_t count) { outputs_ = count; }
  /// The exact values are another operation's: then the first comparison fails.
  void compare_with(graph::OpKind kind) { exact_kind_ = kind; }
  /// The written values are these instead: then the first comparison fails that sees it.
  void write_as(std::function<WrittenRef(const WrittenRef&)> rewrite) { rewrite_ = std::move(rewrite); }
  /// By the rough values: Softmax is computed with its arguments shifted, which random oracles do not cancel.
  void compare_roughly() { roughly_ = true; }
  /// The prover's definition allows more shapes than the op table; of these there is nothing to compare.
  void allow_other_types() { other_types_ = true; }

  /// There is no such variant: nothing is compared.
  void skip() { skipped_ = true; }

  Counts enumerate() {
    Counts counts;
    if (skipped_) return counts;
    const std::vector<Meant> meant = followed();
    for (const Unknown& u : unknowns_) program_.set(u.slot, u.least);
    do {
      compare(meant, counts);
    } while (counts.problem.empty() && next_sizes());
    return counts;
  }

 private:
  struct Unknown {
    FormProgram::Slot slot;
    std::int64_t least, most;
  };
  struct Integers {
    graph::Attr attr;
    bool list;
    std::vector<std::size_t> items;
  };
  struct Meant {  // of one output
    std::vector<std::size_t> dims;
    std::vector<FormProgram::Slot> place;
    FormProgram::Form form;
    std::optional<std::size_t> written;  // nothing: it is not known
  };

  bool next_sizes() {
    for (const Unknown& u : unknowns_) {
      const std::int64_t value = program_.integer(u.slot);
      program_.set(u.slot, value < u.most ? value + 1 : u.least);
      if (value < u.most) return true;
    }
    return false;
  }

  std::vector<Meant> followed() {
    std::vector<Meant> out;
    for (const SymbolicTensor& t : operands_) {
      auto& dims = operand_dims_.emplace_back();
      for (const z3::expr& d : t.dims) dims.push_back(program_.node(d));
    }
    for (const SymbolicTensor& t : apply_symbolically(state_, kind_, "", attrs_, operands_, outputs_)) {
      Meant& meant = out.emplace_back();
      Index place;
      for (const z3::expr& d : t.dims) {
        state_.assume(d >= 1);
        meant.dims.push_back(program_.node(d));
        place.push_back(state_.fresh("i"));
        meant.place.push_back(program_.slot(place.back()));
      }
      const Poly value = t.at(place);
      meant.form = program_.translated(value);
      const WrittenRef written = rewrite_ ? rewrite_(value.written) : value.written;
      if (written) meant.written = written_.node(written);
    }
    for (const auto& [fact, comment] : state_.assumptions()) {
      bool of_place = false;
      look_at(fact, of_place);
      (of_place ? place_facts_ : size_facts_).push_back(program_.node(fact));
    }
    return out;
  }

  // Whether it speaks of a place; names of places that are to be solved for are noted.
  void look_at(const z3::expr& e, bool& of_place) {
    if (e.is_const() && !e.is_numeral() && e.decl().decl_kind() == Z3_OP_UNINTERPRETED) {
      const std::string name = e.decl().name().str();
      of_place = of_place || !name.starts_with("u_");
      const FormProgram::Slot slot = program_.slot(e);
      if (name.starts_with("at_") && std::ranges::find(hidden_, slot) == hidden_.end())
        hidden_.push_back(slot);
    }
    for (unsigned i = 0; i < e.num_args(); ++i) look_at(e.arg(i), of_place);
  }

  bool holds(const std::vector<std::size_t>& facts) const {
    return std::ranges::all_of(facts, [&](std::size_t fact) { return program_.integer(fact) != 0; });
  }

  // There is one place, and no other, for all that the definition leaves to be solved for.
  bool solve(std::size_t next, std::int64_t most, std::vector<std::int64_t>& values,
             std::vector<std::int64_t>& found, std::size_t& count) {
    if (next == hidden_.size()) {
      if (!holds(place_facts_)) return false;
      found = values;
      return ++count > 1;
    }
    for (std::int64_t v = 0; v < most; ++v) {
      program_.set(hidden_[next], values[next] = v);
      if (solve(next + 1, most, values, found, count)) return true;
    }
    return false;
  }
  std::size_t solve_places() {
    std::vector<std::int64_t> values(hidden_.size()), found;
    std::size_t count = 0;
    solve(0, most_, values, found, count);
    for (std::size_t i = 0; count > 0 && i < found.size(); ++i) program_.set(hidden_[i], found[i]);
    return count;
  }

  graph::AttrBlock block() const {
    graph::AttrBlock out;
    for (const auto& [attr, list, items] : integers_) {
      graph::Ints values;
      for (std::size_t item : items) values.push_back(program_.integer(item));
      if (list)
        out.set(attr, values);
      else
        out.set(attr, values.at(0));
    }
    for (const auto& [attr, value] : reals_) out.set(attr, value);
    return out;
  }

  // An element: any of the field. Its rough value is a number of its own, unless that is what is compared.
  Exact drawn() {
    const double rough = rng_.uniform(0.25, 1.75);
    return roughly_ ? Exact::of(rough) : Exact{rng_.below(Field::kPrime), rough, 0};
  }

  void draw() {
    values_.clear();
    most_ = 1;
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      graph::Ints dims;
      for (std::size_t d : operand_dims_[n]) dims.push_back(program_.integer(d));
      for (std::int64_t d : dims) most_ = std::max(most_, d);
      const bool rows = operands_[n].integer_at != nullptr;
      ExactTensor& t =
          values_.emplace_back(ExactTensor::zeros(rows ? graph::DType::int64 : graph::DType::float32, dims));
      const std::int64_t of = rows ? values_[0].dims[*rows_of_] : 0;
      for (Exact& value : t.values) {
        value =
            rows ? Exact::of(static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(2 * of))) - of)
                 : drawn();
      }
      if (rows && row_) program_.set(*row_, static_cast<std::int64_t>(t.values[0].rough));
    }
    for (std::size_t n = 0; n < values_.size(); ++n) program_.set("t" + std::to_string(n), &values_[n]);
    program_.set_most(most_);
  }

  // Types and values at one choice of all unknowns.
  void compare(const std::vector<Meant>& meant, Counts& counts) {
    const bool wanted = holds(size_facts_);
    if (!wanted && !holds_for_operands()) return;
    draw();
    const graph::AttrBlock given = block();
    InlineVector<graph::Operand, 4> types;
    for (const ExactTensor& t : values_)
      types.push_back({tables_.intern(t.dtype, t.dims), graph::WeightId::none, true});
    graph::AttrBlock attrs;
    graph::TypeList out;
    try {
      attrs = graph::canonical_attrs(tables_, exact_kind_.value_or(kind_), given, types);
      out = graph::infer_types(tables_, exact_kind_.value_or(kind_), attrs, types);
    } catch (const graph::GraphError& error) {
      if (wanted && !other_types_) note(counts, std::string("is no graph: ") + error.what());
      return;
    }
    for (const auto& [attr, value] : given.entries()) {
      const graph::AttrValue* held = attrs.find(attr);
      if (!held || *held != value) return;  // is not canonical: no left side has it
    }
    for (const graph::TypeId type : out) {
      const auto& dims = tables_.type(type).dims;
      if (std::any_of(dims.begin(), dims.end(), [](graph::Dim d) { return d < 1; })) return;
    }
    if (!wanted) return note(counts, "is a graph, and no case of the definition");
    std::vector<const ExactTensor*> inputs;
    for (const ExactTensor& t : values_) inputs.push_back(&t);
    const auto exact = evaluate_exactly(exact_kind_.value_or(kind_), attrs, inputs, tables_.type(out[0]));
    ++counts.shapes;
    for (std::size_t i = 0; i < meant.size(); ++i) compare(meant[i], exact.at(i), counts);
  }
  bool holds_for_operands() const {
    return std::ranges::all_of(operand_dims_, [&](const auto& dims) {
      return std::ranges::all_of(dims, [&](std::size_t d) { return program_.integer(d) >= 1; });
    });
  }

  void compare(const Meant& meant, const ExactTensor& wanted, Counts& counts) {
    graph::Ints dims;
    for (std::size_t d : meant.dims) dims.push_back(program_.integer(d));
    if (dims != wanted.dims) return note(counts, "has other dims");
    if (!meant.written) return note(counts, "has no written value");
    graph::Ints place(dims.size(), 0);
    do {
      for (std::size_t d = 0; d < place.size(); ++d) program_.set(meant.place[d], place[d]);
      if (hidden_.empty() ? !holds(place_facts_) : solve_places() != 1)
        return note(counts, "assumes of a place what does not hold, or leaves it open");
      const auto of_function = [&](const std::string& name, const std::vector<Exact>& args) {
        return function(name, args);
      };
      const Exact& exact = wanted.at(place);
      if (!same(program_.real(meant.form, of_function), exact)) return note(counts, "has another value");
      if (!same(written_.real(*meant.written, of_function), exact))
        return note(counts, "is written with another value");
      ++counts.elements;
    } while (next_index(place, wanted.dims));
  }

  bool same(const Exact& found, const Exact& exact) const {
    return roughly_ ? std::abs(found.rough - exact.rough) < 1e-12 : found.residue == exact.residue;
  }

  // Operands come first, attributes after them.
  Exact function(const std::string& name, const std::vector<Exact>& args) const {
    const graph::OpKind kind = graph::op_from_name(name).value();
    if (kind != kind_) return exact_function(kind, args.at(0));
    std::vector<ExactTensor> scalars;
    std::vector<const ExactTensor*> inputs;
    for (std::size_t i = 0; i < operands_.size(); ++i)
      scalars.push_back({graph::DType::float32, {}, {args.at(i)}});
    for (const ExactTensor& t : scalars) inputs.push_back(&t);
    graph::AttrBlock attrs;
    std::size_t next = operands_.size();
    for (const auto& [attr, quantity] : attrs_) attrs.set(attr, args.at(next++).rough);
    return evaluate_exactly(kind, attrs, inputs, {graph::DType::float32, true, {}})[0].values[0];
  }

  void note(Counts& counts, const std::string& problem) const {
    if (!counts.problem.empty()) return;
    counts.problem = std::string(graph::op_info(kind_).name) + " " + problem + ":";
    for (const Unknown& u : unknowns_) counts.problem += " " + std::to_string(program_.integer(u.slot));
  }

  graph::OpKind kind_;
  std::optional<graph::OpKind> exact_kind_;
  std::function<WrittenRef(const WrittenRef&)> rewrite_;
  Rng rng_;
  rules::RandomChoices choices_;
  z3::context context_;
  ProofCase state_;
  FormProgram program_;
  WrittenProgram written_{program_};
  std::vector<Unknown> unknowns_;
  SymbolicInputs operands_;
  SymbolicAttrs attrs_;
  std::vector<Integers> integers_;
  std::vector<std::pair<graph::Attr, double>> reals_;
  std::optional<std::size_t> rows_of_;
  std::optional<FormProgram::Slot> row_;
  std::size_t outputs_ = 1;
  bool roughly_ = false, other_types_ = false, skipped_ = false;
  std::int64_t most_ = 1;  // of all dims of operands
  std::vector<ExactTensor> values_;
  std::vector<std::size_t> size_facts_, place_facts_;
  std::vector<std::vector<std::size_t>> operand_dims_;
  std::vector<FormProgram::Slot> hidden_;  // places that the form leaves to be solved for
  graph::Tables tables_;
};

}
