#include "learner/job/update_sharing.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/learner/learners.h"

namespace regraft::learner {
namespace {

std::vector<std::byte> bytes_of(float number) {
  const auto bytes = std::as_bytes(std::span(&number, 1));
  return {bytes.begin(), bytes.end()};
}

float number_in(std::span<const std::byte> bytes) {
  float number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

/// A number to which each update adds what the learners have of it together: as many times its data as there
/// are learners.
class Number : public Replica {
 public:
  explicit Number(float begin) : number_(begin) {}
  void share_with(std::shared_ptr<wire::Group> group) override { group_ = std::move(group); }
  void restore(std::span<const std::byte> state) override { number_ = number_in(state); }
  void follow(std::span<const std::byte> data) override {
    float part = number_in(data);
    if (group_) group_->add_up({&part, 1});
    number_ += part;
  }
  std::vector<float> values() const override { return {number_}; }

  void spoil() { number_ += 1; }
  float number() const { return number_; }

 private:
  std::shared_ptr<wire::Group> group_;
  float number_;
};

/// What the first learner does: two updates.
void lead(Number& replica, UpdateSharing& sharing) {
  for (const float data : {10.0F, 100.0F}) {
    sharing.begin([&] { return bytes_of(replica.number()); });
    sharing.tell([&] { return bytes_of(data); });
    replica.follow(bytes_of(data));
  }
}

TEST(UpdateSharing, PeersTakeOverTheStateMakeEachUpdateAndEndWithTheFirstLearner) {
  constexpr std::uint32_t kLearners = 3;
  std::vector<float> numbers(kLearners);
  test::run_learners(kLearners, [&](std::uint32_t rank, const JoinLearners& join) {
    Number replica(static_cast<float>(rank));
    if (rank == 0) {
      UpdateSharing sharing(replica, join);
      EXPECT_FALSE(sharing.farewell()) << "nobody has joined";
      replica.spoil();
      lead(replica, sharing);
      sharing.farewell()();
    } else {
      follow_updates(join, replica);
    }
    numbers[rank] = replica.number();
  });
  EXPECT_EQ(numbers, std::vector<float>(kLearners, 331));
}

TEST(UpdateSharing, APeerThatHasOtherWeightsSaysSo) {
  test::run_learners(2, [&](std::uint32_t rank, const JoinLearners& join) {
    Number replica(0);
    if (rank == 0) {
      UpdateSharing sharing(replica, join);
      lead(replica, sharing);
      replica.spoil();
      sharing.tell([] { return bytes_of(1); });
      return;
    }
    try {
      follow_updates(join, replica);
      ADD_FAILURE() << "it went on";
    } catch (const wire::WireError& error) {
      EXPECT_EQ(error.fault(), wire::WireFault::kMisuse) << error.what();
    }
  });
}

TEST(UpdateSharing, OneThatLearnsAloneMakesNoBytes) {
  const auto never = [] {
    ADD_FAILURE() << "for nobody";
    return std::vector<std::byte>();
  };
  Number replica(5);
  UpdateSharing sharing(replica, nullptr);
  sharing.begin(never);
  sharing.tell(never);
  EXPECT_FALSE(sharing.farewell());
}

}  // namespace
}
