#include "launch/output_files.h"

#include <unistd.h>

#include <string>
#include <system_error>
#include <vector>

#include "core/base/file.h"
#include "core/base/sha256.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

void check(const std::error_code& problem, const char* what, const fs::path& path) {
  if (problem)
    throw FileError(std::string(what) + ": " + problem.message(), path.string(),
                    "check the folder and the disk");
}

}  // namespace

OutputFiles::OutputFiles(fs::path output) : output_(fs::absolute(output)) {
  const std::string stem = "." + output_.filename().string() + "." + std::to_string(getpid()) + "-";
  std::error_code problem;
  // Processes of other machines or containers may have our number, and a killed one leaves its folder behind.
  for (int number = 0; folder_.empty(); ++number) {
    const fs::path folder = output_.parent_path() / (stem + std::to_string(number) + ".aside");
    if (fs::create_directory(folder, problem)) folder_ = folder;
    check(problem, "the output cannot be written", output_.parent_path());
  }
}

OutputFiles::~OutputFiles() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void OutputFiles::copy_of(const fs::path& model) {
  std::error_code problem;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) fs::remove(entry.path());
  fs::copy_file(model, aside(), problem);
  check(problem, "the input cannot be copied", output_);
  const fs::path source = fs::absolute(model).parent_path();
  for (const fs::path data : onnx::import_model(model).external_locations()) {
    fs::create_directories((folder_ / data).parent_path(), problem);
    fs::copy_file(source / data, folder_ / data, problem);
    check(problem, "external data cannot be copied", output_.parent_path() / data);
  }
}

void OutputFiles::commit() {
  std::error_code problem;
  const fs::path main = aside();
  std::vector<std::string> kept;
  // The model last: until then the old one, if any, is whole.
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_)) {
    if (!entry.is_regular_file() || entry.path() == main) continue;
    const fs::path target = output_.parent_path() / fs::relative(entry.path(), folder_);
    const bool ours = target.filename().string().starts_with(output_.filename().string());
    if (!ours && fs::exists(target) && sha256_file(target) != sha256_file(entry.path()))
      throw FileError("another model's external data lies there", target.string(),
                      "choose another folder for the output");
    fs::create_directories(target.parent_path(), problem);
    fs::rename(entry.path(), target, problem);
    check(problem, "cannot be written", target);
    kept.push_back(target.filename().string());
  }
  sync_folder(output_.parent_path());
  fs::rename(main, output_, problem);
  check(problem, "cannot be written", output_);
  sync_folder(output_.parent_path());
  onnx::remove_stale_data(output_, kept);
}

}  // namespace regraft::launch
