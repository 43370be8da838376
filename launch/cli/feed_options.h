#pragma once

#include <CLI/CLI.hpp>

#include "launch/call/feeds.h"

namespace regraft::launch {

/// --bind and --inputs, and --feed for processes of our own.
void add_feed_options(CLI::App& command, FeedOptions& options);

}  // namespace regraft::launch
