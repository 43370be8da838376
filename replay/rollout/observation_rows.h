#pragma once

// Internal to replay: an observation as tables of rows in which nodes are named by stable ids.

#include "core/env/observation.h"
#include "replay/rollout/byte_reader.h"
#include "replay/rollout/codec_limits.h"
#include "replay/rollout/row_table.h"

namespace regraft::replay {

struct ObservationRows {
  // Each ordered by its first column.
  RowTable nodes;       // id, kind, features
  RowTable edges;       // receiver id, sender id, features
  RowTable candidates;  // rule, ids of matched nodes
  std::vector<float> globals;
  std::uint32_t rule_count = 0;
  env::ActionMode action_mode = env::ActionMode::one_site;
  std::uint32_t truncated_locations = 0;
};

/// Overwrites `rows`, reusing its memory. Throws ReplayError where the observation breaks its contract.
void to_rows(const env::Observation& observation, ObservationRows& rows);
env::Observation from_rows(const ObservationRows& rows);

void write_observation(const ObservationRows& before, const ObservationRows& after, ByteWriter& out);
ObservationRows read_observation(const ObservationRows& before, ByteReader& in, const CodecLimits& limits);

}
