#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>

#include "core/wire/hub.h"
#include "core/wire/link.h"

namespace regraft::wire {

struct RelayOptions {
  /// To the learner. `actor` is the relay's name; kind and tickets are its actors'. For each further kind of
  /// actor there is another link, of the name NAME.KIND.
  LinkOptions upstream;
  /// To the actors. Its keys, run and security are set by the relay: actors know it by the key that the
  /// learner knows it by. dispatch.ticket_bytes: as the learner's.
  HubOptions hub;
  std::filesystem::path run_file;  // written for the actors
  std::uint32_t idle_ms = 10000;   // without any actor of a kind, until its tickets go back to the learner
};

/// Stands between the learner and the actors of a host: a Link above, a Hub below. Runs until the run has
/// ended or a stop is asked for; its actors then end too.
///   tickets: link -> RelayBook -> hub;  results: hub -> link;  verdicts: link -> hub;  weights: once a
///   version
/// - Tickets, parts and verdicts pass as they are, in the learner's generation. Frames are not copied.
/// - What an actor loses is given to another one. A relay that dies loses what it holds, as an actor does.
/// - The learner's next generation begins with another hub at the same place: what was held is void.
///
/// Errors: those of a Link. After kKey, kRefused and kTimeout there is no going on: the actors have then been
/// sent away. After others they look for a relay that is started again.
void run_relay(const RelayOptions& options, const Clock& clock, const std::stop_token& stopped);

}
