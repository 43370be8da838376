#pragma once

#include "launch/call/feed_options.h"
#include "launch/command/command.h"

namespace regraft::launch {

/// --bind and --inputs, and --feed for processes of our own.
void add_feed_options(Command& command, FeedOptions& options);

}
