#include "core/wire/frame.h"

#include <gmock/gmock.h>

namespace regraft::wire {
namespace {

TEST(Frame, AdoptsAVectorWithoutCopyingIt) {
  std::vector<float> values(1000, 1.5f);
  const void* data = values.data();
  const Frame frame = Frame::adopt(std::move(values));
  EXPECT_EQ(frame.bytes().data(), data);
  EXPECT_EQ(frame.size(), 4000u);
}

TEST(Frame, KeepsItsOwnerAliveUntilTheLastHandleIsGone) {
  auto owner = std::make_shared<const std::vector<std::byte>>(2000);
  const std::weak_ptr<const std::vector<std::byte>> watch = owner;
  const auto bytes = std::span(*owner).subspan(1000);
  Frame first = Frame::view_of(std::move(owner), bytes);
  {
    const Frame second = first.share();
    first = Frame();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(second.bytes().data(), bytes.data());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Frame, SmallAndEmptyBlocksWorkToo) {
  EXPECT_EQ(Frame().size(), 0u);
  EXPECT_EQ(Frame::adopt(std::vector<float>{}).size(), 0u);
  Frame small = Frame::adopt(std::vector<std::uint8_t>{1, 2, 3});
  const Frame shared = small.share();
  const Frame moved = std::move(small);
  EXPECT_THAT(shared.bytes(), testing::ElementsAre(std::byte{1}, std::byte{2}, std::byte{3}));
  EXPECT_THAT(moved.bytes(), testing::ElementsAre(std::byte{1}, std::byte{2}, std::byte{3}));
  std::vector<Frame> frames;
  frames.push_back(moved.share());
  frames.push_back(shared.share());
  EXPECT_EQ(total_bytes(frames), 6u);
}

}  // namespace
}
