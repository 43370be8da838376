#include "launch/job/relay_process.h"

#include <filesystem>
#include <memory>
#include <optional>

#include "launch/cli/commands.h"
#include "launch/job/join_run.h"

namespace regraft::launch {
namespace {

struct RelayArguments {
  RelayPlace place;
  std::optional<std::filesystem::path> run, file;
};

int relay(const RelayArguments& options) {
  RelayPlace place = options.place;
  place.folder = folder_of(place.join, options.run);
  place.file = options.file.value_or(place.folder.relay_file(place.name));
  return run_relay_process(place);
}

}  // namespace

void add_relay(Command& program, Action& action) {
  auto options = std::make_shared<RelayArguments>();
  options->place.address = "127.0.0.1";
  Command* command =
      program.add_subcommand("relay", "connect the actors of a host to a running job by one connection");
  command->add_option("--join", options->place.join, "the run file (RUN/run.json) or URL of the job")
      ->required();
  command->add_option("--run", options->run, "the run folder, where --join is a URL or a file elsewhere");
  command->add_option("--key", options->place.key, "its key pair, made by `regraft keys add`")->required();
  command->add_option("--name", options->place.name, "its name, unique in the job")->required();
  command->add_option("--file", options->file,
                      "the run file that its actors join (default: RUN/relays/NAME.json)");
  command->add_option("--address", options->place.address,
                      "where it listens for actors of other machines (default: for those of this one alone)");
  command->add_option("--incarnation", options->place.incarnation,
                      "counts its starts: whoever restarts the relay raises it");
  command->callback([options, &action] { action = [options] { return relay(*options); }; });
}

}
