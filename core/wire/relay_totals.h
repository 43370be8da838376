#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/wire/actor_work.h"
#include "core/wire/delivery.h"

// Inside core/wire only.

namespace regraft::wire {

/// What the actors of a relay have done while they were behind it, those that are gone too. What one told
/// another hub before it came is in that one's totals. Used by one thread.
class RelayTotals {
 public:
  /// `work`: as the actor tells it, since it started; 0 where it does not say.
  void see(const ActorInfo& actor, const ActorWork& work);
  /// By all actors of a kind.
  ActorWork of_kind(const std::string& kind) const;

 private:
  struct Worker {
    std::uint64_t pid = 0, incarnation = 0;
    ActorWork before, now;
  };
  struct Kind {
    std::map<std::string, Worker> workers;  // by name
    ActorWork earlier;                      // by workers that others of their name have replaced
  };
  std::map<std::string, Kind> kinds_;
};

}
