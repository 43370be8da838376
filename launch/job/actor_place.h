#pragma once

#include <stop_token>
#include <string>

#include "core/base/clock.h"
#include "core/base/config.h"
#include "core/wire/link.h"

namespace regraft::launch {

/// Where an actor of a job works, and how it ends. All of it outlives the actor.
struct ActorPlace {
  wire::Link& link;
  const std::string& kind;  // one of its phase's
  const Config& config;
  const Clock& clock;
  std::stop_token stopped;
  wire::LinkOptions link_options{};  // of `link`, for further ones
};

}
