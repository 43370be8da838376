#pragma once

#include <functional>
#include <stop_token>

#include "core/wire/link.h"

namespace regraft::actors {

/// What every kind of actor does: plays one ticket after another, until the learner says that the run has
/// ended or a stop is requested. Throws what the link throws otherwise, and what `play` throws.
void play_tickets(wire::Link& link, const std::stop_token& stopped,
                  const std::function<void(const wire::Ticket&)>& play);

/// The weights of the ticket's version, or the latest where those are no longer kept. Throws as
/// wire::Link::fetch does.
wire::Weights fetch_weights(wire::Link& link, const wire::Ticket& ticket);

}
