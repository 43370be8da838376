// The prover's normal form of a value at a symbolic place, against exact evaluation: random terms over
// tensors with symbolic dims, which are given sizes only when the form is evaluated, sum by sum.
#include <gtest/gtest.h>

#include "core/proof/exact/exact_tensor.h"
#include "core/proof/symbolic/symbolic_rule.h"
#include "core/rules/examples/example_attributes.h"

namespace regraft::proof {
namespace {

using graph::Attr;
using graph::AttrValue;
using graph::Ints;
using graph::OpKind;

constexpr std::size_t kDims = 3;
constexpr std::int64_t kLargest = 3;

/// A term in both worlds.
struct Term {
  SymbolicTensor symbolic;
  ExactTensor exact;
};

class World {
 public:
  explicit World(std::uint64_t seed)
      : rng_(seed, "normal-form"),
        choice_rng_(seed, "choices"),
        choices_(choice_rng_),
        state_(context_, choices_, 4) {
    for (std::size_t i = 0; i < kDims; ++i) {
      dims_.push_back(state_.fresh("d"));
      sizes_.push_back(1 + static_cast<std::int64_t>(rng_.below(kLargest)));
      state_.assume(dims_.back() >= 1);
      known(dims_.back(), sizes_.back());
    }
  }

  /// A leaf of random rank, over the common dims.
  Term leaf() {
    SymbolicTensor s;
    Ints dims;
    for (std::size_t rank = rng_.below(4); rank > 0; --rank) {
      const auto which = static_cast<std::size_t>(rng_.below(kDims));
      s.dims.push_back(dims_[which]);
      dims.push_back(sizes_[which]);
    }
    ExactTensor e = ExactTensor::zeros(graph::DType::float32, dims);
    for (Exact& value : e.values)
      value = Exact::of(static_cast<double>(static_cast<std::int64_t>(rng_.below(64)) - 32) / 16 + 1.0 / 64);
    const std::string name = "t" + std::to_string(leaves_.size());
    leaves_.push_back(e);
    s.at = [name](const Index& index) { return Poly::atom({name, index, {}}); };
    return {s, e};
  }

  Term term(int depth) {
    if (depth == 0) return leaf();
    const Term x = term(depth - 1);
    const std::size_t rank = x.exact.dims.size();
    const auto axis = [&] { return static_cast<std::int64_t>(rng_.below(rank)); };
    switch (rank == 0 ? rng_.below(3) : rng_.below(10)) {
      case 0:
        return apply(OpKind::add, {x, term(depth - 1)}, {});
      case 1:
        return apply(OpKind::mul, {x, leaf()}, {});
      case 2:
        return apply(rng_.below(2) == 0 ? OpKind::relu : OpKind::exp, {x}, {});
      case 3:
        return apply(OpKind::matmul, {x, leaf()}, {});
      case 4:
        return apply(OpKind::transpose, {x},
                     {{Attr::perm, AttrValue(rules::some_permutation(rank, choices_))}});
      case 5:
        return merged(x);
      case 6: {
        const std::int64_t a = axis();
        return apply(OpKind::concat, {x, x}, {{Attr::axis, AttrValue(a)}});
      }
      case 7:  // not Softmax: exact evaluation shifts by the largest, which random oracles for Exp do not
               // cancel
        return apply(OpKind::reduce_sum, {x},
                     {{Attr::axes, AttrValue(Ints{axis()})}, {Attr::keepdims, AttrValue(std::int64_t{1})}});
      case 8:
        return apply(OpKind::reduce_mean, {x},
                     {{Attr::axes, AttrValue(Ints{axis()})},
                      {Attr::keepdims, AttrValue(static_cast<std::int64_t>(rng_.below(2)))}});
      default:
        return apply(OpKind::slice, {x},
                     {{Attr::starts, AttrValue(Ints{0})},
                      {Attr::ends, AttrValue(Ints{1})},
                      {Attr::axes, AttrValue(Ints{axis()})},
                      {Attr::steps, AttrValue(Ints{1})}});
    }
  }

  /// The normal form at every place against the value there. Counts the places.
  std::size_t compare(const Term& term) {
    Index place;
    for (const z3::expr& d : term.symbolic.dims) {
      place.push_back(state_.fresh("i"));
      state_.assume(place.back() >= 0 && place.back() < d);
    }
    const Poly form = term.symbolic.at(place);
    Ints index(term.exact.dims.size(), 0);
    std::size_t places = 0;
    const std::size_t mark = known_.size();
    do {
      known_.resize(mark, known_.front());
      for (std::size_t d = 0; d < place.size(); ++d) known(place[d], index[d]);
      EXPECT_EQ(value(form).residue, term.exact.at(index).residue) << to_text(form);
      ++places;
    } while (next_index(index, term.exact.dims));
    return places;
  }

 private:
  using Attrs = std::vector<std::pair<Attr, AttrValue>>;
  Term apply(OpKind kind, const std::vector<Term>& operands, const Attrs& attrs) {
    SymbolicAttrs symbolic;
    for (const auto& [attr, value] : attrs) symbolic[attr] = quantity_of(state_, value);
    SymbolicInputs inputs;
    for (const Term& t : operands) inputs.push_back(t.symbolic);
    return {apply_symbolically(state_, kind, "", symbolic, inputs, 1)[0], exactly(kind, operands, attrs)};
  }

  ExactTensor exactly(OpKind kind, const std::vector<Term>& operands, const Attrs& attrs) {
    InlineVector<graph::Operand, 4> types;
    std::vector<const ExactTensor*> values;
    for (const Term& t : operands) {
      types.push_back({tables_.intern(t.exact.dtype, t.exact.dims), graph::WeightId::none, true});
      values.push_back(&t.exact);
    }
    graph::AttrBlock block;
    for (const auto& [attr, value] : attrs) block.set(attr, value);
    block = graph::canonical_attrs(tables_, kind, block, types);
    const auto type = graph::infer_types(tables_, kind, block, types)[0];
    return evaluate_exactly(kind, block, values, tables_.type(type))[0];
  }

  // The first two dims become one, or the first becomes the last of two.
  Term merged(const Term& x) {
    Index shape = x.symbolic.dims;
    Ints sizes = x.exact.dims;
    if (sizes.size() > 1 && rng_.below(3) > 0) {
      shape[0] = shape[0] * shape[1];
      sizes[0] *= sizes[1];
      shape.erase(shape.begin() + 1);
      sizes.erase(sizes.begin() + 1);
    } else {
      shape.insert(shape.begin(), state_.number(1));
      sizes.insert(sizes.begin(), 1);
    }
    SymbolicAttrs attrs;
    attrs[Attr::shape] = quantity_of(shape);
    return {apply_symbolically(state_, OpKind::reshape, "", attrs, {x.symbolic}, 1)[0],
            exactly(OpKind::reshape, {x}, {{Attr::shape, AttrValue(sizes)}})};
  }
  void known(const z3::expr& variable, std::int64_t number) { known_.emplace_back(variable, number); }

  Exact value(const Poly& form) {
    Exact sum;
    for (const Summand& term : form.terms) sum = sum + sum_of(term, 0);
    return sum;
  }

  // Over all values of the bounds from number `bound` on; guards keep them in range.
  Exact sum_of(const Summand& term, std::size_t bound) {
    if (bound < term.bounds.size()) {
      Exact sum;
      for (std::int64_t k = 0; k < kLargest * kLargest; ++k) {
        known(term.bounds[bound], k);
        sum = sum + sum_of(term, bound + 1);
        known_.pop_back();
      }
      return sum;
    }
    for (const z3::expr& guard : term.guards) {
      if (literal(guard).is_false()) return {};
    }
    Exact product = Exact::of(term.numerator) / Exact::of(term.denominator);
    for (const Atom& atom : term.factors) product = product * value(atom);
    return product;
  }

  Exact value(const Atom& atom) {
    if (atom.name == "inverse") return Exact::of(1.0) / value(atom.args[0]);
    if (atom.name == "one_over") return Exact::of(1.0) / Exact::of(number(atom.index[0]));
    if (atom.name[0] != 't')
      return exact_function(graph::op_from_name(atom.name).value(), value(atom.args[0]));
    Ints index;
    for (const z3::expr& e : atom.index) index.push_back(number(e));
    return leaves_.at(std::stoul(atom.name.substr(1))).at(index);
  }

  // What an expression is, given the sizes and the place; what the form left to be solved for is solved for.
  z3::expr literal(const z3::expr& e) {
    z3::expr_vector from(context_), to(context_);
    for (const auto& [variable, size] : known_) {
      from.push_back(variable);
      to.push_back(context_.int_val(size));
    }
    z3::expr copy = e;
    const z3::expr simple = copy.substitute(from, to).simplify();
    if (simple.is_numeral() || simple.is_true() || simple.is_false()) return simple;
    z3::solver solver(context_);
    for (const SmtAssertion& fact : state_.assumptions()) solver.add(fact.claim);
    for (const auto& [variable, size] : known_) solver.add(variable == context_.int_val(size));
    EXPECT_EQ(solver.check(), z3::sat) << "what is assumed does not hold here: " << e;
    return solver.get_model().eval(e, true);
  }

  std::int64_t number(const z3::expr& e) { return literal(e).get_numeral_int64(); }

  Rng rng_, choice_rng_;
  rules::RandomChoices choices_;
  z3::context context_;
  ProofCase state_;
  Index dims_;
  Ints sizes_;
  graph::Tables tables_;
  std::vector<ExactTensor> leaves_;
  std::vector<std::pair<z3::expr, std::int64_t>> known_;
};

TEST(NormalForm, IsTheValueAtEveryPlaceForAllSizes) {
  constexpr std::uint64_t kFirstSeed = 120;
  std::size_t terms = 0, places = 0;
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    try {
      places += world.compare(world.term(1 + static_cast<int>(seed % 3)));
      ++terms;
    } catch (const graph::GraphError&) {  // operands that do not fit
    } catch (const Unprovable&) {
    } catch (const IllTyped&) {
    } catch (const Undecided&) {
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(terms, 20u);
  EXPECT_GT(places, 100u);
}

}  // namespace
}
