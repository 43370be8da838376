#include "core/cost/neighbourhood.h"

#include <gtest/gtest.h>

#include "core/cost/net.h"

namespace regraft::cost {
namespace {

using testing::Net;
using testing::OpKind;
using testing::Value;

TEST(Neighbourhood, MoreThanFourDirectUsersAreMany) {
  Net net;
  const Value x = net.input({4});
  const Neighbourhood near(net.graph);
  for (const std::size_t users : {2, 4}) {
    net.op(OpKind::add, {x, net.op(OpKind::mul, {x, x})});  // three uses of two users
    EXPECT_FALSE(near.has_many_users(x.node)) << users;
    EXPECT_EQ(near.users(x.node).size(), users);
  }
  net.op(OpKind::identity, {x});
  net.output(x);
  EXPECT_FALSE(near.has_many_users(x.node)) << "neither an Identity node nor an output is a user";
  net.op(OpKind::relu, {x});
  EXPECT_TRUE(near.has_many_users(x.node));
  EXPECT_TRUE(near.users(x.node).empty());
}

}  // namespace
}
