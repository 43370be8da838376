#include <cstdio>
#include <filesystem>

#include "core/wire/keys.h"
#include "launch/cli/commands.h"
#include "launch/job/join_run.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {
namespace {

struct KeysArguments {
  learner::RunFolder folder;
  std::string name;
  std::filesystem::path key;
};

int add(const KeysArguments& options) {
  const wire::KeyPair keys = wire::load_or_make_key_pair(options.key);
  wire::AuthorisedKeys(options.folder.authorised()).add(options.name, keys.public_key);
  std::printf("%s may join with %s\n", options.name.c_str(), options.key.c_str());
  return kDone;
}

int revoke(const KeysArguments& options) {
  if (!wire::AuthorisedKeys(options.folder.authorised()).revoke(options.name))
    throw UsageError("no key of that name", options.name,
                     "see `regraft keys list --run " + options.folder.root.string() + "`");
  std::printf("%s may no longer join\n", options.name.c_str());
  return kDone;
}

int list(const KeysArguments& options) {
  for (const auto& entry : wire::AuthorisedKeys(options.folder.authorised()).list())
    std::printf("%-20s %s\n", entry.name.c_str(), entry.public_key.c_str());
  return kDone;
}

}  // namespace

void add_keys(Command& program, Action& action) {
  auto options = std::make_shared<KeysArguments>();
  Command* command = program.add_subcommand("keys", "say who may join a run");
  command->require_subcommand();
  const auto verb = [&](const char* name, const char* help, int (*run)(const KeysArguments&)) {
    Command* sub = command->add_subcommand(name, help);
    sub->add_option("--run", options->folder.root, "the run folder")->required();
    sub->callback([options, run, &action] {
      action = [options, run] {
        require_run(options->folder);
        return run(*options);
      };
    });
    return sub;
  };
  Command* adding = verb("add", "let a key join; makes the key pair if the file is missing", add);
  adding->add_option("NAME", options->name, "name of the actor or relay")->required();
  adding->add_option("--key", options->key, "file of the key pair, readable by its owner alone")->required();
  verb("revoke", "shut a key out; takes effect at once", revoke)
      ->add_option("NAME", options->name, "the name as it was added")
      ->required();
  verb("list", "list names and public keys", list);
}

}
