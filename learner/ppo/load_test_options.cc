#include "learner/ppo/load_test_options.h"

namespace regraft::learner {

const BoundOptions<LoadTestOptions>& load_test_options() {
  static const BoundOptions<LoadTestOptions> options({
      {"load_test.seconds", &LoadTestOptions::seconds, between(5, 86400),
       "seconds that are measured, once all actors are at work; actors tell their CPU time once a second"},
      {"load_test.record", &LoadTestOptions::record, between(0, 100000),
       "episodes to write to RUN/recorded.episodes, for load_test.replay"},
      {"load_test.replay", &LoadTestOptions::replay, any(),
       "file that load_test.record wrote: actors send its episodes as fast as they get tickets; empty: they "
       "play"},
      {"load_test.connections", &LoadTestOptions::connections, between(1, 4096),
       "connections of each actor that replays; it stands for as many actors"},
      {"load_test.baseline", &LoadTestOptions::baseline, any(),
       "RUN/summary.json of a load test with fewer actors, to compare this one with; empty: itself"},
  });
  return options;
}

}
