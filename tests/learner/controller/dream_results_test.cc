#include "learner/controller/dream_results.h"

#include <gtest/gtest.h>

#include <limits>

namespace regraft::learner {
namespace {

const nn::ControllerConfig kController{
    .kind = nn::ControllerKind::hierarchical, .state = 2, .rules = 3, .locations = 4, .width = 8};

/// An episode that stops at once.
replay::DreamSegment stopped(std::uint32_t episode, std::uint64_t version) {
  replay::DreamSegment segment;
  segment.weight_version = version;
  segment.episode = episode;
  segment.steps.push_back({.state = {0.5F, -1},
                           .legal = {0, 2},
                           .rule = 2,
                           .location = 0,
                           .count = 1,
                           .log_rule = -0.5F,
                           .log_location = 0,
                           .reward = 0,
                           .terminated = true});
  segment.final_cost_ratio = segment.best_cost_ratio = std::numeric_limits<float>::quiet_NaN();
  return segment;
}

wire::Delivery delivered(const std::vector<replay::DreamSegment>& segments, std::uint64_t header_version) {
  wire::Delivery delivery;
  for (const replay::DreamSegment& segment : segments) {
    wire::Part& part = delivery.parts.emplace_back();
    part.header.weight_version = header_version;
    part.header.steps = 1;
    for (replay::Bytes& bytes : replay::encode_dream_segment(segment))
      part.frames.push_back(wire::Frame::adopt(std::move(bytes)));
  }
  return delivery;
}

TEST(DreamResults, SegmentsOfOneBundleAreTaken) {
  EXPECT_EQ(assemble_dreams(delivered({stopped(0, 3), stopped(1, 3)}, 3), kController).size(), 2u);
}

TEST(DreamResults, SegmentsOfSeveralBundlesAreAMixture) {
  EXPECT_THROW(assemble_dreams(delivered({stopped(0, 3), stopped(1, 4)}, 3), kController), MixedBundles);
  EXPECT_THROW(assemble_dreams(delivered({stopped(0, 3), stopped(1, 3)}, 4), kController), MixedBundles);
}

}  // namespace
}
