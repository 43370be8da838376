#include "actors/tickets.h"

#include <chrono>

#include "core/base/log.h"
#include "core/wire/wire_error.h"

namespace regraft::actors {
namespace {

constexpr std::chrono::milliseconds kPatience{200};  // for a ticket, before looking whether to stop

}  // namespace

void play_tickets(wire::Link& link, const std::stop_token& stopped,
                  const std::function<void(const wire::Ticket&)>& play) {
  try {
    while (!stopped.stop_requested()) {
      while (link.next_ack(std::chrono::milliseconds(0))) {
      }
      if (const auto ticket = link.next_ticket(kPatience)) play(*ticket);
    }
  } catch (const wire::WireError& error) {
    if (error.fault() != wire::WireFault::kClosed) throw;
    log_debug("the run has ended: {}", error.what());
  }
}

wire::Weights fetch_weights(wire::Link& link, const wire::Ticket& ticket) {
  try {
    return link.fetch(ticket.weight_version);
  } catch (const wire::WireError& error) {
    // The learner that follows one that was killed may not have that version.
    if (error.fault() != wire::WireFault::kGone && error.fault() != wire::WireFault::kTimeout) throw;
    return link.fetch(0);
  }
}

}
