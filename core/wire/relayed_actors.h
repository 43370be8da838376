#pragma once

#include <cstdint>

#include "core/wire/actor_work.h"

namespace regraft::wire {

/// At a relay's hub.
struct RelayTraffic {
  std::uint32_t connections = 0;
  std::uint64_t bytes_in = 0;  // since the relay started, as TransportCounters has them
  std::uint64_t bytes_out = 0;

  bool operator==(const RelayTraffic&) const = default;
};

/// The actors that a relay's link speaks for. A link of an actor speaks for that one.
struct RelayedActors {
  std::uint32_t actors = 1;
  std::uint32_t tickets_wanted = 1;  // by all together
  ActorWork work{};                  // by all that the relay has seen; by one of its links also the relay's
  RelayTraffic traffic{};            // by that link
};

}
