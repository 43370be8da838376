#include "core/wire/relay_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regraft::wire {
namespace {

TEST(RelayBook, ATicketWhoseKindIsForgottenAsItIsIssuedIsItself) {
  RelayBook book("run", 3);
  Ticket ticket;
  ticket.seed = 7;
  ticket.id = 5;
  ticket.generation = 3;
  book.add("policy", ticket);
  const auto spec = book.next("policy");
  ASSERT_TRUE(spec);
  EXPECT_THAT(book.forget("policy"), testing::IsEmpty());
  EXPECT_EQ(book.issue(*spec), ticket);
  EXPECT_FALSE(book.is_outstanding(5, 3));
  EXPECT_EQ(book.close(5, Verdict::kLost), Verdict::kLate);
  EXPECT_FALSE(book.next("policy"));
}

}  // namespace
}
