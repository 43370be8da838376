// What the prover takes for granted: its meaning of an operation at a symbolic place, against the interpreter
// in fp64, on random instances.
#include <gtest/gtest.h>

#include <numeric>

#include "core/proof/symbolic/symbolic_number.h"
#include "core/proof/symbolic/symbolic_rule.h"
#include "core/rules/graph_builder.h"
#include "core/rules/interpreter.h"

namespace regraft::proof {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::DType;
using graph::HostTensor;
using graph::Ints;
using graph::OpKind;

constexpr double kTolerance = 1e-12;  // both are fp64; only the order of sums differs
constexpr int kInstances = 40;        // of each operation

/// One operation on operands whose dims are names with sizes.
class Instance {
 public:
  explicit Instance(std::uint64_t seed)
      : rng_(seed, "meaning"),
        choice_rng_(seed, "choices"),
        choices_(choice_rng_),
        state_(context_, choices_, 5) {}

  std::int64_t some(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(most - least + 1)));
  }
  bool coin() { return rng_.below(2) == 0; }

  /// A name with a size; of size 1, the number, so that whether it is repeated is known.
  z3::expr dim(std::int64_t least, std::int64_t most) {
    const std::int64_t size = some(least, most);
    if (size == 1) return state_.number(1);
    const z3::expr name = state_.fresh("d");
    numbers_.set(name, size);
    state_.assume(name >= 2);
    return name;
  }
  std::int64_t size(const z3::expr& dim) const { return numbers_.integer(dim).value(); }
  z3::expr number(std::int64_t value) { return state_.number(value); }

  void operand(const Index& dims, double low = -1.5, double high = 1.5) {
    HostTensor host = tensor(dims, DType::float32);
    for (double& v : host.real) v = rng_.uniform(low, high);
    const std::string name = add(dims, host);
    operands_.back().at = [name](const Index& index) { return Poly::atom({name, index, {}}); };
  }
  /// Rows of a dim, counted from the front or from the end.
  void indices(const Index& dims, const z3::expr& of) {
    HostTensor host = tensor(dims, DType::int64);
    for (std::int64_t& v : host.integer) v = some(-size(of), size(of) - 1);
    const std::string name = add(dims, host);
    operands_.back().integer_at = [name, this](const Index& index) {
      z3::expr_vector at(context_);
      z3::sort_vector sorts(context_);
      for (const z3::expr& i : index) at.push_back(i), sorts.push_back(context_.int_sort());
      if (index.empty()) return context_.int_val(numbers_.tensor(name).integer[0]);
      return context_.function(name.c_str(), sorts, context_.int_sort())(at);
    };
  }

  /// Each output at every place. Returns the number of places.
  std::size_t compare(OpKind kind, const AttrBlock& attrs) {
    const graph::NodeId node = builder_.node(kind, values_, attrs);
    const auto outputs = builder_.graph().node(node).outputs.size();
    for (std::uint32_t i = 0; i < outputs; ++i) builder_.output({node, i});
    SymbolicAttrs symbolic;
    for (const graph::AttrSpec& spec : graph::op_info(kind).attrs) {
      if (const auto* value = builder_.graph().attrs(node).find(spec.attr))
        symbolic[spec.attr] = quantity_of(state_, *value);
    }
    const auto meant = apply_symbolically(state_, kind, "", symbolic, operands_, outputs);
    const auto wanted = rules::testing::Interpreter(builder_.graph()).run(inputs_);
    std::size_t places = 0;
    for (std::size_t i = 0; i < outputs; ++i) places += compare(meant.at(i), wanted.at(i));
    for (const auto& [fact, comment] : state_.assumptions()) EXPECT_NE(numbers_.integer(fact), 0) << fact;
    return places;
  }

 private:
  HostTensor tensor(const Index& dims, DType dtype) {
    HostTensor host;
    host.dtype = dtype;
    std::size_t count = 1;
    for (const z3::expr& d : dims) {
      host.dims.push_back(size(d));
      largest_ = std::max(largest_, size(d));
      count *= static_cast<std::size_t>(size(d));
    }
    (dtype == DType::float32 ? host.real.resize(count) : host.integer.resize(count));
    return host;
  }
  std::string add(const Index& dims, const HostTensor& host) {
    const std::string name = "t" + std::to_string(operands_.size());
    SymbolicTensor symbolic;
    symbolic.dims = dims;
    inputs_[static_cast<std::int32_t>(operands_.size())] = host;
    values_.push_back(builder_.input(host.dims, host.dtype));
    operands_.push_back(symbolic);
    numbers_.set(name, host);
    return name;
  }

  std::size_t compare(const SymbolicTensor& meant, const HostTensor& wanted) {
    Ints dims;
    for (const z3::expr& d : meant.dims) dims.push_back(size(d));
    EXPECT_EQ(dims, wanted.dims);
    if (dims != wanted.dims) return 0;
    numbers_.set_most(largest_);
    Index place;
    for (const z3::expr& d : meant.dims) {
      place.push_back(state_.fresh("i"));
      state_.assume(place.back() >= 0 && place.back() < d);
    }
    const Poly form = meant.at(place);
    for (std::size_t flat = 0; flat < wanted.real.size(); ++flat) {
      std::size_t rest = flat;
      for (std::size_t d = dims.size(); d-- > 0;) {
        numbers_.set(place[d], static_cast<std::int64_t>(rest) % dims[d]);
        rest /= static_cast<std::size_t>(dims[d]);
      }
      EXPECT_NEAR(numbers_.real(form), wanted.real[flat], kTolerance * (1 + std::abs(wanted.real[flat])))
          << to_text(form);
    }
    return wanted.real.size();
  }

  Rng rng_, choice_rng_;
  rules::RandomChoices choices_;
  z3::context context_;
  ProofCase state_;
  testing::Numbers numbers_;
  graph::GraphBuilder builder_;
  std::vector<graph::Value> values_;
  SymbolicInputs operands_;
  std::map<std::int32_t, HostTensor> inputs_;
  std::int64_t largest_ = 1;  // dim: no sum is over more
};

/// What an instance of each operation is made of.
std::size_t conv(Instance& in) {
  const auto spatial = static_cast<std::size_t>(in.some(1, 2));
  const std::int64_t group = in.some(1, 3);
  const z3::expr inner = in.dim(1, 2), each = in.dim(1, 2);
  Index x = {in.dim(1, 2), inner * in.number(group)}, w = {each * in.number(group), inner};
  Ints kernel, strides, pads, dilations;
  for (std::size_t d = 0; d < spatial; ++d) {
    x.push_back(in.dim(4, 5));
    kernel.push_back(in.some(1, 3));
    w.push_back(in.number(kernel.back()));
    strides.push_back(in.some(1, 3));
    dilations.push_back(in.some(1, 2));
  }
  for (std::size_t d = 0; d < 2 * spatial; ++d) pads.push_back(in.some(d < spatial ? 0 : 1, 2));
  in.operand(x);
  in.operand(w);
  if (in.coin()) in.operand({w[0]});
  return in.compare(OpKind::conv, {{Attr::kernel_shape, kernel},
                                   {Attr::strides, strides},
                                   {Attr::pads, pads},
                                   {Attr::dilations, dilations},
                                   {Attr::group, group}});
}

std::size_t gemm(Instance& in) {
  const bool ta = in.coin(), tb = in.coin();
  const z3::expr rows = in.dim(1, 3), inner = in.dim(1, 4), columns = in.dim(1, 3), one = in.number(1);
  in.operand(ta ? Index{inner, rows} : Index{rows, inner});
  in.operand(tb ? Index{columns, inner} : Index{inner, columns});
  const std::vector<Index> added = {{}, {one}, {columns}, {one, columns}, {rows, one}, {rows, columns}};
  if (in.some(0, 3) > 0) in.operand(added[static_cast<std::size_t>(in.some(0, 5))]);
  return in.compare(OpKind::gemm, {{Attr::trans_a, std::int64_t{ta}},
                                   {Attr::trans_b, std::int64_t{tb}},
                                   {Attr::alpha, 0.25 * static_cast<double>(in.some(-3, 6))},
                                   {Attr::beta, 0.5 * static_cast<double>(in.some(-3, 4))}});
}

Index some_dims(Instance& in, std::int64_t least, std::int64_t most) {
  Index dims;
  for (std::int64_t rank = in.some(least, most); rank > 0; --rank) dims.push_back(in.dim(1, 3));
  return dims;
}

std::size_t gather(Instance& in) {
  const Index x = some_dims(in, 1, 3);
  const std::int64_t axis = in.some(0, std::ssize(x) - 1);
  in.operand(x);
  in.indices(some_dims(in, 0, 2), x[static_cast<std::size_t>(axis)]);
  return in.compare(OpKind::gather, {{Attr::axis, axis}});
}

std::size_t split(Instance& in) {
  Index x = some_dims(in, 1, 3);
  const std::int64_t axis = in.some(0, std::ssize(x) - 1);
  Ints sizes;
  for (std::int64_t parts = in.some(1, 3); parts > 0; --parts) sizes.push_back(in.some(1, 3));
  x[static_cast<std::size_t>(axis)] = in.number(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}));
  in.operand(x);
  return in.compare(OpKind::split, {{Attr::axis, axis}, {Attr::split, sizes}});
}

std::size_t batch_norm(Instance& in) {
  const Index x = some_dims(in, 2, 4);
  in.operand(x);
  for (int i = 0; i < 3; ++i) in.operand({x[1]});
  in.operand({x[1]}, 0.25, 2);
  return in.compare(OpKind::batch_norm, {{Attr::epsilon, 1.0 / 16}});
}

std::size_t layer_norm(Instance& in) {
  const std::int64_t normalised = in.some(1, 2);
  Index x = some_dims(in, 0, 1), scale;
  const std::int64_t axis = std::ssize(x);
  for (std::int64_t d = 0; d < normalised; ++d) scale.push_back(in.dim(1, normalised == 1 ? 4 : 2));
  x.insert(x.end(), scale.begin(), scale.end());
  in.operand(x);
  in.operand(scale);
  if (normalised > 1 && in.coin()) scale[0] = in.number(1);
  if (in.coin()) in.operand(scale);
  return in.compare(OpKind::layer_norm, {{Attr::axis, axis}, {Attr::epsilon, 1.0 / 16}});
}

std::size_t softmax(Instance& in) {
  const Index x = some_dims(in, 1, 3);
  in.operand(x);
  return in.compare(OpKind::softmax, {{Attr::axis, in.some(0, std::ssize(x) - 1)}});
}

std::size_t global_average_pool(Instance& in) {
  in.operand(some_dims(in, 3, 5));
  return in.compare(OpKind::global_average_pool, {});
}

struct Meaning {
  const char* name;
  std::size_t (*instance)(Instance&);
  std::size_t least_places;  // over all instances: each is more than a place or two
};

class SymbolicMeaningOf : public ::testing::TestWithParam<Meaning> {};

TEST_P(SymbolicMeaningOf, IsWhatTheInterpreterComputes) {
  std::size_t places = 0;
  for (std::uint64_t seed = 1; seed <= kInstances && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Instance in(seed);
    places += GetParam().instance(in);
  }
  EXPECT_GE(places, GetParam().least_places);
}

INSTANTIATE_TEST_SUITE_P(Each, SymbolicMeaningOf,
                         ::testing::Values(Meaning{"Conv", conv, 400}, Meaning{"Gemm", gemm, 100},
                                           Meaning{"Gather", gather, 150}, Meaning{"Split", split, 400},
                                           Meaning{"BatchNormalization", batch_norm, 300},
                                           Meaning{"LayerNormalization", layer_norm, 100},
                                           Meaning{"Softmax", softmax, 150},
                                           Meaning{"GlobalAveragePool", global_average_pool, 100}),
                         [](const auto& row) { return std::string(row.param.name); });

// Windows that are cut at the border have no normal form: rules about them stay bounded_checked.
TEST(SymbolicMeaning, OfPoolsWithWindowsThereIsNone) {
  for (const OpKind kind : {OpKind::max_pool, OpKind::average_pool}) {
    Instance in(1);
    in.operand({in.number(1), in.number(2), in.number(4)});
    EXPECT_THROW(in.compare(kind, {{Attr::kernel_shape, Ints{2}}}), Unprovable);
  }
}

}  // namespace
}
