#include "launch/optimise/output_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <system_error>
#include <vector>

#include "core/base/atomic_file.h"
#include "core/base/sha256.h"
#include "core/base/temporary_folder.h"
#include "core/onnx/data_files.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

void check(const std::error_code& problem, const char* what, const fs::path& path) {
  if (problem)
    throw FileError(std::string(what) + ": " + problem.message(), path.string(),
                    "check the folder and the disk");
}

fs::path file_of(const OutputTarget& target) {
  return target.kind == OutputTarget::Kind::file ? fs::absolute(target.path)
                                                 : temporary_folder() / "model.onnx";
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

OutputFiles::OutputFiles(const fs::path& output)
    : target_(target_of(output)), output_(file_of(target_)), folder_(output_.parent_path()) {}

void OutputFiles::refuse_data() const {
  throw FileError("cannot hold the model's external data", "the output", "name a file");
}

void OutputFiles::expect(const onnx::ImportedModel& model) const {
  if (target_.kind == OutputTarget::Kind::file || model.external_locations().empty()) return;
  if (fs::status(target_.path).type() != fs::file_type::character) refuse_data();
}

/// With the mode that new files get, which is the folder's but for its own bits.
void OutputFiles::copy(const fs::path& from, const fs::path& to) const {
  std::error_code problem;
  fs::create_directories(to.parent_path(), problem);
  fs::copy_file(from, to, problem);
  check(problem, "cannot be copied", from);
  const fs::perms files = fs::status(folder_.path()).permissions() & static_cast<fs::perms>(0666);
  fs::permissions(to, files | fs::perms::owner_write, problem);
}

void OutputFiles::clear() {
  in_place_ = false;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path()))
    fs::remove_all(entry.path());
}

void OutputFiles::copy_of(const onnx::ImportedModel& model) {
  std::error_code missing;
  clear();
  in_place_ = fs::equivalent(model.path(), output_, missing);
  if (in_place_) return;
  copy(model.path(), aside());
  const fs::path source = fs::absolute(model.path()).parent_path();
  for (const fs::path data : model.external_locations()) {
    if (!fs::exists(source / data, missing)) continue;  // of a tensor without elements
    if (folder_.path() / data == aside())
      throw FileError("is the name of the model's external data too", output_.string(),
                      "choose another name");
    copy(source / data, folder_.path() / data);
  }
}

/// Where a data file goes: not over one that another model names, unless they are equal.
fs::path OutputFiles::place_of(const fs::path& data) const {
  const fs::path target = output_.parent_path() / fs::relative(data, folder_.path());
  if (!fs::exists(target) || sha256_file(target) == sha256_file(data)) return target;
  const bool ours = target.filename().string().starts_with(output_.filename().string());
  if (!ours || onnx::is_named_beside(target, output_))
    throw FileError("another model's external data lies there", target.string(),
                    "choose another folder for the output");
  return target;
}

void OutputFiles::move(const fs::path& from, const fs::path& to) const {
  {
    const FileDescriptor file(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
    keep_mode_and_owner(to, file.get());
    if (!file || ::fsync(file.get()) != 0)
      check({errno, std::generic_category()}, "cannot be made durable", to);
  }
  std::error_code problem;
  fs::create_directories(to.parent_path(), problem);
  fs::rename(from, to, problem);
  check(problem, "cannot be written", to);
}

/// To what is no file: the model's bytes, and there is no place for more.
bool OutputFiles::send() {
  const bool device = fs::status(target_.path).type() == fs::file_type::character;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path()))
    if (entry.path() != aside() && !device) refuse_data();
  AtomicFile out(target_.path);
  out.write(MappedFile(aside()).bytes());
  out.commit();
  return false;
}

bool OutputFiles::commit() {
  if (in_place_) return false;
  const auto held = folder_.hold_signals();
  if (target_.kind != OutputTarget::Kind::file) return send();
  std::vector<std::string> kept;
  // The model last: until then the old one, if any, is whole.
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_.path())) {
    if (!entry.is_regular_file() || entry.path() == aside()) continue;
    const fs::path target = place_of(entry.path());
    move(entry.path(), target);
    kept.push_back(target.filename().string());
  }
  sync_folder(output_.parent_path());
  move(aside(), output_);
  sync_folder(output_.parent_path());
  onnx::remove_stale_data(output_, kept);
  return true;
}

std::string OutputFiles::spoken(std::string text) const {
  if (target_.kind == OutputTarget::Kind::file)
    replace_all(text, folder_.path().string() + "/", output_.parent_path().string() + "/");
  else
    replace_all(text, aside().string(), "the output");
  return text;
}

}
