#pragma once

#include <span>
#include <vector>

#include "replay/rollout/byte_reader.h"
#include "replay/rollout/codec_limits.h"
#include "replay/rollout/trajectory.h"

namespace regraft::replay {

/// A segment as frames for the wire: [0] header and per-step scalars, [1] observations, each as its
/// difference to the one before, the first to an empty one. The last is the observation after the segment,
/// where there is one. Nodes are named by stable ids, so a rewrite changes few rows. Throws ReplayError for a
/// segment that breaks the contract of env::Observation or has more than kMaxSegmentSteps steps.
std::vector<Bytes> encode_segment(const Segment& segment);

/// Its frame [0] alone: of the observations it needs none. For sending an episode again under another ticket.
Bytes encode_scalars(const Segment& segment);

/// The segment that was encoded, bit for bit. Throws ReplayError on anything else: every length, id, row and
/// candidate is checked, every figure that is trained on is finite, and the result satisfies
/// env::Observation's contract.
Segment decode_segment(std::span<const std::span<const std::byte>> frames, const CodecLimits& limits = {});

}
