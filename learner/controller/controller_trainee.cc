#include "learner/controller/controller_trainee.h"

#include <utility>
#include <vector>

#include "replay/rollout/frames.h"

namespace regraft::learner {

std::vector<std::byte> encode_controller_update(double share,
                                                std::span<const replay::DreamSegment> segments) {
  std::vector<std::byte> bytes;
  replay::ByteWriter out(bytes);
  out.value(share);
  for (const replay::DreamSegment& segment : segments)
    replay::write_frames(out, replay::encode_dream_segment(segment));
  return bytes;
}

void ControllerTrainee::share_with(std::shared_ptr<wire::Group> group) {
  ppo_.share_with(std::move(group));
}

void ControllerTrainee::restore(std::span<const std::byte> state) {
  ppo_.restore(state);
}

void ControllerTrainee::update(std::span<const std::byte> data) {
  replay::ByteReader in(data);
  ppo_.anneal(in.value<double>());
  std::vector<replay::DreamSegment> segments;
  while (in.left() > 0) segments.push_back(replay::decode_dream_segment(replay::read_frames(in)));
  ppo_.update(segments);
}

std::vector<float> ControllerTrainee::weights() const {
  return ppo_.weights().values;
}

}  // namespace regraft::learner
