#include "launch/command/add_feed_options.h"

namespace regraft::launch {

void add_feed_options(Command& command, FeedOptions& options) {
  command
      .add_option("--bind", options.bindings,
                  "sizes of dynamic dims: batch=8,seq=128. Several sizes: n=1,64,4096; the first counts most "
                  "(default: found by trying)")
      ->delimiter(',');
  command.add_option("--inputs", options.inputs,
                     "inputs to run on: a .npz, .pb files in the order of the inputs, or a folder of them "
                     "(default: drawn at random, as the model reads them)");
  command.add_option("--feed", options.feed, "how the model is fed, as find-feed wrote it")->hidden();
}

}
