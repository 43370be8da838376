#include "core/proof/symbolic/whole_equalities.h"

#include <gtest/gtest.h>

#include "core/base/rng.h"
#include "core/proof/smt/run_smt.h"
#include "core/proof/symbolic/symbolic_value.h"
#include "core/proof/verify/verify.h"

namespace regraft::proof {
namespace {

constexpr std::size_t kBytes = 100000;

/// Leaves x, y, z of two dims and sums over n and m, in one context.
struct World {
  z3::context context;
  z3::expr i = context.int_const("i_0"), j = context.int_const("j_0"), n = context.int_const("n_0"),
           m = context.int_const("m_0");
  std::vector<SmtAssertion> facts = {n >= 1, m >= 1, i >= 0, i < n, j >= 0, j < m};

  Poly leaf(const std::string& name, const Index& index) const { return Poly::atom({name, index, {}}); }
  Poly x(const z3::expr& a, const z3::expr& b) const { return leaf("x", {a, b}); }
  Poly y(const z3::expr& a, const z3::expr& b) const { return leaf("y", {a, b}); }
  Poly z(const z3::expr& a, const z3::expr& b) const { return leaf("z", {a, b}); }
  Poly sum(const z3::expr& extent, const std::function<Poly(const z3::expr&)>& body) {
    return sum_over(context, extent, body);
  }
  Poly exp(const Poly& of) const { return Poly::atom({"Exp", {}, {of}}); }
};

using Sides = std::pair<Poly, Poly>;

struct Pair {
  const char* name;
  Sides (*make)(World&);
};

class Whole : public ::testing::TestWithParam<Pair> {};

TEST_P(Whole, EqualSidesAreConfirmedAlsoByTheProgram) {
  World w;
  const auto [left, right] = GetParam().make(w);
  WholeEqualities whole(kBytes);
  EXPECT_TRUE(whole.add(w.facts, left.written, right.written));
  EXPECT_EQ(whole.confirmed(), 1u);
  EXPECT_TRUE(all_unsat(run_smt(whole.text()))) << whole.text();
  EXPECT_TRUE(all_unsat(run_z3_program("z3", whole.text())));
}

const Pair kEachWhole[] = {
    {"RingLaws",
     [](World& w) {
       const Poly a = w.x(w.i, w.j), b = w.y(w.i, w.j), c = w.z(w.i, w.j);
       return Sides{(a + b) * c + negate(c), c * a + (b + Poly::number(-1)) * c};
     }},
    {"ProductOfThree",
     [](World& w) {
       return Sides{w.sum(w.n,
                          [&](const z3::expr& l) {
                            return w.sum(w.m, [&](const z3::expr& k) { return w.x(w.i, k) * w.y(k, l); }) *
                                   w.z(l, w.j);
                          }),
                    w.sum(w.m, [&](const z3::expr& k) {
                      return w.x(w.i, k) *
                             w.sum(w.n, [&](const z3::expr& l) { return w.y(k, l) * w.z(l, w.j); });
                    })};
     }},
    {"FactorOut",
     [](World& w) {
       const Poly c = w.z(w.i, w.j);
       return Sides{w.sum(w.n, [&](const z3::expr& k) { return (w.x(w.i, k) + w.y(w.i, k)) * c; }),
                    c * w.sum(w.n, [&](const z3::expr& k) { return w.x(w.i, k); }) +
                        c * w.sum(w.n, [&](const z3::expr& k) { return w.y(w.i, k); })};
     }},
    {"SumOfTwoParts",
     [](World& w) {
       const auto whole = [&](const z3::expr& k) {
         return guarded(w.x(w.i, k), k < w.n) + guarded(w.y(w.i, k - w.n), k >= w.n);
       };
       return Sides{w.sum(w.n + w.m, whole), w.sum(w.n, [&](const z3::expr& k) { return w.x(w.i, k); }) +
                                                 w.sum(w.m, [&](const z3::expr& k) { return w.y(w.i, k); })};
     }},
    {"FunctionOfASum", [](World& w) {
       const auto share = [&](const z3::expr& at) {
         return w.exp(w.x(w.i, at)) *
                Poly::inverse(w.sum(w.n, [&](const z3::expr& k) { return w.exp(w.x(w.i, k)); }));
       };
       return Sides{guarded(share(w.j), w.j < w.m), share(w.j + 0)};
     }}};
INSTANTIATE_TEST_SUITE_P(Each, Whole, ::testing::ValuesIn(kEachWhole),
                         [](const auto& row) { return std::string(row.param.name); });

class NotWhole : public ::testing::TestWithParam<Pair> {};

// Neither laws nor assumptions contradict each other, so sides that differ stay apart.
TEST_P(NotWhole, SidesThatDifferAreNot) {
  World w;
  const auto [left, right] = GetParam().make(w);
  WholeEqualities whole(kBytes);
  EXPECT_FALSE(whole.add(w.facts, left.written, right.written)) << whole.text();
  EXPECT_EQ(whole.confirmed(), 0u);
  EXPECT_EQ(whole.text(), "");
}

const Pair kEachNotWhole[] = {
    {"OtherPlace",
     [](World& w) {
       return Sides{w.sum(w.n, [&](const z3::expr& k) { return w.x(w.i, k); }),
                    w.sum(w.n, [&](const z3::expr& k) { return w.x(w.j, k); })};
     }},
    {"Shifted",
     [](World& w) {
       return Sides{w.sum(w.n, [&](const z3::expr& k) { return w.x(w.i, k); }),
                    w.sum(w.n, [&](const z3::expr& k) { return w.x(w.i, k + 1); })};
     }},
    {"OtherExtent",
     [](World& w) {
       return Sides{w.sum(w.n, [&](const z3::expr& k) { return w.x(w.i, k); }),
                    w.sum(w.m, [&](const z3::expr& k) { return w.x(w.i, k); })};
     }},
    {"ProductOfSumsIsNoSumOfProducts",
     [](World& w) {
       return Sides{w.sum(w.n, [&](const z3::expr& k) { return w.x(w.i, k); }) *
                        w.sum(w.n, [&](const z3::expr& k) { return w.y(w.i, k); }),
                    w.sum(w.n, [&](const z3::expr& k) { return w.x(w.i, k) * w.y(w.i, k); })};
     }},
    {"Diagonal",
     [](World& w) {
       const auto of = [&](const auto& place) {
         return w.sum(w.n, [&](const z3::expr& k) {
           return w.sum(w.n, [&](const z3::expr& l) { return place(k, l); });
         });
       };
       return Sides{of([&](const z3::expr& k, const z3::expr&) { return w.x(k, k); }),
                    of([&](const z3::expr& k, const z3::expr& l) { return w.x(k, l); })};
     }},
    {"Backwards",  // equal, but for a law that is not among those that are assumed
     [](World& w) {
       return Sides{w.sum(w.n, [&](const z3::expr& k) { return w.x(w.i, k); }),
                    w.sum(w.n, [&](const z3::expr& k) { return w.x(w.i, w.n - 1 - k); })};
     }},
    {"EveryOther",
     [](World& w) {
       return Sides{w.sum(w.n, [&](const z3::expr& k) { return w.x(w.i, k); }),
                    w.sum(w.n, [&](const z3::expr& k) { return w.x(w.i, k * 2); })};
     }},
    {"CountedTwice",
     [](World& w) {
       const auto once = w.sum(w.n, [&](const z3::expr& k) { return w.x(w.i, k); });
       return Sides{once + once, once};
     }},
    {"ConstantOverAnotherNumber",
     [](World& w) {
       return Sides{w.sum(w.n, [&](const z3::expr&) { return w.x(w.i, w.j); }), w.x(w.i, w.j)};
     }},
    {"PartLeftOut",
     [](World& w) {
       return Sides{w.sum(w.n + w.m, [&](const z3::expr& k) { return guarded(w.x(w.i, k), k < w.n); }),
                    w.sum(w.n + w.m, [&](const z3::expr& k) { return guarded(w.x(w.i, k), k <= w.n); })};
     }},
    {"FunctionOfAnotherSum",
     [](World& w) {
       const auto sum = [&](const z3::expr& row) {
         return w.exp(w.sum(w.n, [&](const z3::expr& k) { return w.x(row, k); }));
       };
       return Sides{sum(w.i), sum(w.j)};
     }},
    {"FunctionsInsideASum",
     [](World& w) {
       const auto sum = [&](bool swapped) {
         return w.sum(w.n, [&](const z3::expr& k) {
           return w.exp(w.sum(w.n, [&](const z3::expr& l) { return swapped ? w.x(l, k) : w.x(k, l); }));
         });
       };
       return Sides{sum(false), sum(true)};
     }},
    {"QuotientIsNoProduct", [](World& w) {
       const Poly a = w.x(w.i, w.j), b = w.y(w.i, w.j);
       return Sides{a * Poly::inverse(b) * b, a};
     }}};
INSTANTIATE_TEST_SUITE_P(Each, NotWhole, ::testing::ValuesIn(kEachNotWhole),
                         [](const auto& row) { return std::string(row.param.name); });

// Sums of random shape over leaves whose values are small integers: what differs in numbers is never
// confirmed.
class RandomSides {
 public:
  RandomSides(World& world, std::uint64_t seed) : w_(world), rng_(seed, "sides") {}

  Poly some(int depth, const Index& places) {
    const auto place = [&] { return places[rng_.below(places.size())]; };
    switch (depth == 0 ? 0 : rng_.below(6)) {
      case 0: {
        const z3::expr a = place(), b = place();
        return w_.leaf(rng_.below(2) == 0 ? "x" : "y", {a, b});
      }
      case 1: {
        const Poly a = some(depth - 1, places);
        return a + some(depth - 1, places);
      }
      case 2: {
        const Poly a = some(depth - 1, places);
        return a * some(depth - 1, places);
      }
      case 3:
        return guarded(some(depth - 1, places), place() < place());
      default: {
        const z3::expr extent = rng_.below(2) == 0 ? w_.n : w_.m;
        return w_.sum(extent, [&](const z3::expr& k) {
          Index more = places;
          more.push_back(k);
          return some(depth - 1, more);
        });
      }
    }
  }

  // At n = 2, m = 3 and a random place.
  double number(const WrittenRef& v, const std::vector<std::pair<z3::expr, int>>& places) {
    const auto integer = [&](const z3::expr& e) {
      z3::expr_vector from(w_.context), to(w_.context);
      for (const auto& [name, value] : places) {
        from.push_back(name);
        to.push_back(w_.context.int_val(value));
      }
      z3::expr copy = e;
      return copy.substitute(from, to).simplify();
    };
    const auto part = [&](std::size_t i) { return number(v->args[i], places); };
    switch (v->form) {
      case Written::Form::number:
        return static_cast<double>(v->numerator) / static_cast<double>(v->denominator);
      case Written::Form::add:
        return part(0) + part(1);
      case Written::Form::multiply:
        return part(0) * part(1);
      case Written::Form::negate:
        return -part(0);
      case Written::Form::guarded:
        return integer(v->index[0]).is_true() ? part(0) : 0;
      case Written::Form::sum: {
        double sum = 0;
        auto inside = places;
        inside.emplace_back(v->index[0], 0);
        for (int k = 0; k < integer(v->index[1]).get_numeral_int(); ++k) {
          inside.back().second = k;
          sum += number(v->args[0], inside);
        }
        return sum;
      }
      default: {
        Hasher hasher(v->name == "x" ? 1 : 2);
        for (const z3::expr& e : v->index)
          hasher.add(static_cast<std::uint64_t>(integer(e).get_numeral_int()));
        return static_cast<double>(hasher.finish().low % 8191);
      }
    }
  }

 private:
  World& w_;
  Rng rng_;
};

TEST(Whole, RandomSidesThatDifferInNumbersAreNeverConfirmed) {
  std::size_t differ = 0, same = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World w;
    // Sides of one shape, or of two that have nothing in common.
    RandomSides one(w, seed), two(w, seed % 3 == 0 ? seed : seed + 1000);
    const Poly left = one.some(3, {w.i, w.j}),
               right = two.some(3, seed % 3 == 1 ? Index{w.j, w.i} : Index{w.i, w.j});
    const std::vector<std::pair<z3::expr, int>> at = {{w.i, 1}, {w.j, 0}, {w.n, 2}, {w.m, 3}};
    const double difference = one.number(left.written, at) - one.number(right.written, at);
    WholeEqualities whole(kBytes);
    const bool confirmed = whole.add(w.facts, left.written, right.written);
    EXPECT_TRUE(difference == 0 || !confirmed) << to_text(left) << "\n" << to_text(right);
    differ += difference != 0 ? 1 : 0;
    same += confirmed ? 1 : 0;
  }
  EXPECT_GE(differ, 20u);
  EXPECT_GE(same, 5u);
}

TEST(Whole, FalseAssumptionsConfirmNothing) {
  World w;
  WholeEqualities whole(kBytes);
  w.facts.push_back(w.n < 1);
  EXPECT_FALSE(whole.add(w.facts, w.x(w.i, w.j).written, w.y(w.i, w.j).written));
}

TEST(Whole, EqualBlocksAreOneAndWhatDoesNotFitIsLeftOut) {
  World w;
  WholeEqualities whole(kBytes), small(10);
  const Poly a = w.x(w.i, w.j) + w.y(w.i, w.j), b = w.y(w.i, w.j) + w.x(w.i, w.j);
  const Poly c = w.x(w.j, w.i) + w.y(w.j, w.i), d = w.y(w.j, w.i) + w.x(w.j, w.i);
  EXPECT_TRUE(whole.add(w.facts, a.written, b.written));
  EXPECT_TRUE(whole.add(w.facts, c.written, d.written));
  EXPECT_EQ(whole.confirmed(), 2u);
  EXPECT_EQ(whole.blocks(), 1u);
  EXPECT_FALSE(small.add(w.facts, a.written, b.written));
  EXPECT_EQ(small.confirmed(), 0u);
  EXPECT_FALSE(whole.add(w.facts, nullptr, b.written)) << "a value that was not written down";
}

}  // namespace
}
