#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/rulegen/enumerate/generate_rules.h"
#include "core/rulegen/enumerate/op_table.h"
#include "launch/call/call_files.h"
#include "launch/cli/commands.h"

namespace regraft::launch {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

struct RulesGenerateArguments {
  rulegen::GenerateOptions generate;
  std::size_t memory_mb = 1024;
  std::optional<std::filesystem::path> out;
};

/// The folder of the work: the one to resume in, else one that goes away with this object.
class WorkFolder {
 public:
  explicit WorkFolder(std::filesystem::path given) : path_(std::move(given)), kept_(!path_.empty()) {
    if (!kept_) path_ = temporary_folder() / ("regraft-generate-" + std::to_string(::getpid()));
  }
  ~WorkFolder() {
    std::error_code ignored;  // what cannot be removed stays in the folder for temporary files
    if (!kept_) std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool kept_;
};

int run(RulesGenerateArguments options) {
  CallFiles().writes("--out", options.out);
  const WorkFolder folder(options.generate.folder);
  const bool resumable = !options.generate.folder.empty();
  options.generate.folder = folder.path();
  options.generate.memory_bytes = options.memory_mb * kMiB;
  const auto made = rulegen::generate_rules(options.generate, [](const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  });
  std::printf("enumeration %.1f s, pruning and examples %.1f s\n", made.enumerate_seconds,
              made.prune_seconds);
  if (!made.complete()) {
    std::printf("%s%s\n", made.stopped.c_str(),
                resumable ? "; a later call with the same ops, depth and folder goes on"
                          : "; give --resume FOLDER to go on later");
    return kFailed;
  }
  std::printf("%zu rules, %zu lines; %zu pairs hold on some shapes only, %zu cannot be written\n",
              made.rules.size(), made.line_count(), made.unsound, made.unwritten);
  if (options.out) write_file_atomic(*options.out, made.rules_text());
  return kDone;
}

}  // namespace

void add_rules_generate(Command& rules, Action& action) {
  auto options = std::make_shared<RulesGenerateArguments>();
  options->generate.threads = std::max(1u, std::thread::hardware_concurrency());
  Command* command =
      rules.add_subcommand("generate", "find rules: pairs of small graphs that compute the same");
  std::string names;
  for (const std::string& name : rulegen::op_names()) names += (names.empty() ? "" : ", ") + name;
  command->add_option("--ops", options->generate.ops, "operations to build graphs of: " + names)
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--depth", options->generate.depth, "most nodes of a graph")
      ->capture_default_str()
      ->check(in_range(1, 5));
  command->add_option("--threads", options->generate.threads, "threads at work")
      ->capture_default_str()
      ->check(in_range(1, 1024));
  command->add_option("--memory", options->memory_mb, "MB for the graphs found and for intermediate results")
      ->capture_default_str()
      ->check(in_range(16, 1 << 20));
  command->add_option("--time", options->generate.seconds, "seconds to take; 0: no limit")
      ->capture_default_str()
      ->check(non_negative_number());
  command->add_option("--resume", options->generate.folder,
                      "folder that keeps the work done; a later call goes on from there");
  command->add_option("-o,--out", options->out, "where the rules go; - for standard output");
  command->add_option("--examples", options->generate.examples, "exact examples of each rule")
      ->capture_default_str()
      ->check(in_range(8, 100000));
  command->add_option("--seed", options->generate.seed, "seed of all random choices")->capture_default_str();
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}
