#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/wire/actor_work.h"
#include "core/wire/frame.h"
#include "core/wire/message.h"
#include "core/wire/ticket.h"

namespace regraft::wire {

/// An actor process, as it introduced itself.
struct ActorInfo {
  std::string name;
  std::string kind;
  std::uint64_t incarnation = 0;
  std::uint64_t pid = 0;
  ActorWork told{};  // to others, before it came
};

/// One part of a result: its header and its frames, as they came.
struct Part {
  Result header;
  std::vector<Frame> frames;
};

/// The whole result of a ticket, in memory and awaiting its verdict.
struct Delivery {
  Ticket ticket;
  ActorInfo actor;
  std::vector<Part> parts;  // in order, the last one marked last
};

/// Says what an actor shall do next, or nothing when there is no work for it now. Called on the hub's thread:
/// it must not wait, and must not call the hub.
using TicketSource = std::function<std::optional<TicketSpec>(const ActorInfo&)>;

}
