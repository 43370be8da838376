#include "launch/job/actor_count.h"

namespace regraft::launch {

const BoundOptions<ActorCount>& actor_options() {
  static const BoundOptions<ActorCount> options({
      {"actors.count", &ActorCount::real, between(0, 1024),
       "actors in real environments: processes that `regraft train` starts without mpirun"},
      {"actors.dream", &ActorCount::dreaming, between(0, 1024),
       "actors that dream, beside those of actors.count, in the phases `dream` and `dyna`"},
      {"actors.simulated_step_ms", &ActorCount::simulated_step_ms, between(0, 10000),
       "for measurements: actors that play by a policy wait until each step has taken so long; 0: they do "
       "not"},
  });
  return options;
}

}
