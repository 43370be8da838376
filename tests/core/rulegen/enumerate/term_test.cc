#include "core/rulegen/enumerate/term.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regraft::rulegen {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using K = graph::OpKind;

enum : std::uint16_t { kRelu, kAdd, kAddRelu };

const std::vector<Form>& forms() {
  static const std::vector<Form> all{{.name = "relu", .kind = K::relu},
                                     {.name = "add", .kind = K::add, .inputs = 2},
                                     {.name = "add-relu", .kind = K::add, .inputs = 2, .relu = true}};
  return all;
}

Ref leaf(int number) {
  return Ref::leaf(number);
}

TEST(Term, ANormalFormHasEachNodeOnceAndNoneInVain) {
  // Add(x5, x2) twice, one of them unused but for Add of both; a Relu that nothing reads.
  const Term left{{{kAdd, {leaf(5), leaf(2)}},
                   {kRelu, {leaf(7)}},
                   {kAdd, {leaf(5), leaf(2)}},
                   {kAdd, {Ref::output(0), Ref::output(2)}}},
                  {Ref::output(3)}};
  const TermRule found = normal_form({left, {{}, {leaf(2)}}, {0, 0, 4, 0, 0, 3, 0, 0}}, forms(), kRelu);
  const Term wanted{{{kAdd, {leaf(0), leaf(1)}}, {kAdd, {Ref::output(0), Ref::output(0)}}}, {Ref::output(1)}};
  EXPECT_EQ(found.left, wanted);
  EXPECT_THAT(found.right.nodes, IsEmpty());
  EXPECT_THAT(found.right.roots, ElementsAre(leaf(1))) << "numbered as on the left";
  EXPECT_THAT(found.ranks, ElementsAre(3, 4));
}

TEST(Term, AFusedActivationIsANodeOfItsOwn) {
  const Term fused{{{kAddRelu, {leaf(0), leaf(1)}}}, {Ref::output(0)}};
  const Term apart{{{kAdd, {leaf(0), leaf(1)}}, {kRelu, {Ref::output(0)}}}, {Ref::output(1)}};
  const TermRule found = normal_form({fused, apart, {}}, forms(), kRelu);
  EXPECT_EQ(found.left, apart);
  EXPECT_EQ(found.right, apart);
  EXPECT_THAT(found.ranks, ElementsAre(kAnyRank, kAnyRank));
}

TEST(Term, NodesHangTogetherOverEdgesAndSharedLeaves) {
  const auto connected = [](std::vector<Ref> first, std::vector<Ref> second) {
    return is_connected(Term{{{kAdd, std::move(first)}, {kAdd, std::move(second)}}, {}});
  };
  EXPECT_TRUE(connected({leaf(0), leaf(1)}, {leaf(2), Ref::output(0)}));
  EXPECT_TRUE(connected({leaf(0), leaf(1)}, {leaf(1), leaf(2)}));
  EXPECT_FALSE(connected({leaf(0), leaf(1)}, {leaf(2), leaf(3)}));
  EXPECT_THAT(leaves_of(Term{{{kAdd, {leaf(4), leaf(1)}}, {kAdd, {leaf(1), Ref::output(0)}}}, {leaf(9)}}),
              ElementsAre(1, 4, 9));
}

}  // namespace
}
