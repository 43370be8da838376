#include "launch/call/call_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/output_target.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

/// One file by two names: hard links and links too.
bool same_file(const fs::path& one, const fs::path& other) {
  std::error_code missing;
  if (fs::equivalent(one, other, missing)) return true;
  return fs::weakly_canonical(fs::absolute(one), missing) ==
         fs::weakly_canonical(fs::absolute(other), missing);  // of what is not there, too
}

[[noreturn]] void refuse(const std::string& option, const fs::path& path, const std::string& taken,
                         const std::string& remedy) {
  throw UsageError("is the path of " + taken + " too", option + " " + path.string(), remedy);
}

[[noreturn]] void throw_errno(const std::string& what, const fs::path& path) {
  const int code = errno;
  throw FileError(what + ": " + std::generic_category().message(code), path.string(),
                  code == EACCES || code == EROFS ? "check its permissions" : "check the path");
}

/// Standard output under a name of its own, and standard error in its place.
fs::path set_standard_output_aside() {
  std::fflush(stdout);
  const int own = ::dup(STDOUT_FILENO);
  if (own < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    throw_errno("cannot be written", "standard output");
  return "/dev/fd/" + std::to_string(own);
}

}  // namespace

void CallFiles::writes(const std::string& option, fs::path& path) {
  if (path.empty()) throw UsageError("names no file", option, "give a path, or - for standard output");
  const OutputTarget target = target_of(path);
  if (target.kind == OutputTarget::Kind::descriptor && target.descriptor == STDOUT_FILENO) {
    if (output_taken_) refuse(option, path, "another output", "give each output a path of its own");
    output_taken_ = true;
    path = set_standard_output_aside();
    return;
  }
  if (target.kind != OutputTarget::Kind::file) {
    if (::access(path.c_str(), W_OK) != 0) throw_errno("cannot be written", path);
    return;
  }
  for (const Named& output : outputs_)
    if (same_file(target.path, output.path))
      refuse(option, path, output.option, "give each output a path of its own");
  const AtomicFile probe(path);
  outputs_.push_back({option, target.path});
}

void CallFiles::writes(const std::string& option, std::optional<fs::path>& path) {
  if (path) writes(option, *path);
}

void CallFiles::keep_apart(const std::string& option, const fs::path& path,
                           const std::string& replaced_by) const {
  for (const Named& output : outputs_)
    if (output.option != replaced_by && same_file(output.path, path))
      refuse(output.option, output.path, option, "an output never replaces what the call reads");
}

void CallFiles::reads(const std::string& option, const fs::path& path, const std::string& replaced_by) const {
  std::error_code missing;
  if (::access(path.c_str(), R_OK) != 0) throw_errno("cannot be opened", path);
  if (fs::is_directory(path, missing))
    throw FileError("cannot be read: Is a directory", path.string(), "name a file, not a folder");
  keep_apart(option, path, replaced_by);
}

void CallFiles::reads(const std::string& option, const std::optional<fs::path>& path) const {
  if (path) reads(option, *path);
}

void CallFiles::reads_rules(const std::string& option, const fs::path& path) const {
  std::error_code missing;  // names of configs, and what is not there, are looked for elsewhere
  if (!fs::is_directory(path, missing)) {
    if (fs::exists(path, missing)) reads(option, path);
    return;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".rules") reads(option, entry.path());
}

void CallFiles::reads_model(const std::string& option, const std::string& model) const {
  std::error_code missing;
  if (fs::exists(model, missing)) reads(option, fs::path(model));
}

void CallFiles::spares(const fs::path& folder, const std::vector<std::string>& names) const {
  for (const std::string& name : names) keep_apart("the model's external data", folder / name, "");
}

}
