#include "core/corpus/corpus.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/base/enum_names.h"
#include "core/base/file.h"
#include "launch/cli/commands.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

struct CorpusArguments {
  std::vector<std::string> models;
  fs::path folder;
};

void print_families() {
  for (const corpus::FamilyInfo& family : corpus::families())
    std::printf("%-12s %-10s %s\n", std::string(family.name).c_str(),
                std::string(enum_name(family.split)).c_str(), std::string(family.about).c_str());
}

/// corpus:residual:7 is residual-7.onnx.
fs::path file_of(const std::string& model) {
  std::string name = model.substr(model.find(':') + 1);
  std::ranges::replace(name, ':', '-');
  return name + ".onnx";
}

void make_folder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    throw FileError("cannot be made: " + problem.message(), folder.string(), "choose a writable folder");
}

int write_models(const CorpusArguments& options) {
  for (const std::string& name : options.models) {
    if (!corpus::is_corpus_name(name))
      throw UsageError("is no model of the corpus", name,
                       "write corpus:FAMILY:SEED; `regraft corpus` lists families");
    for (const std::string& model : corpus::expanded(name)) {
      make_folder(options.folder);
      const fs::path file = options.folder / file_of(model);
      write_file_atomic(file, corpus::make_model(model));
      std::printf("%s\n", file.c_str());
    }
  }
  return kDone;
}

}  // namespace

void add_corpus(Command& program, Action& action) {
  auto options = std::make_shared<CorpusArguments>();
  Command* command = program.add_subcommand(
      "corpus", "list the families of generated models, or write such models as files");
  Option* models = command->add_option(
      "models", options->models,
      "corpus:FAMILY:SEED. SEED may be a range, such as 0-24; FAMILY may be a split, which "
      "stands for all of its families");
  Option* folder =
      command->add_option("-o,--out", options->folder, "the folder to write them to, as FAMILY-SEED.onnx");
  models->needs(folder);
  folder->needs(models);
  command->callback([options, &action] {
    action = [options] {
      if (options->models.empty()) print_families();
      return write_models(*options);
    };
  });
}

}
