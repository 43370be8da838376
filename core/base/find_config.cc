#include "core/base/find_config.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <vector>

#include "core/base/mutex.h"

namespace regraft {

namespace fs = std::filesystem;
namespace {

constexpr const char* kFolder = "configs";

/// The program, and the library that holds this code where the program is another's (Python).
std::vector<fs::path> own_files() {
  std::error_code problem;
  std::vector<fs::path> files{fs::read_symlink("/proc/self/exe", problem)};
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&find_config), &library) != 0 && library.dli_fname)
    files.push_back(fs::canonical(library.dli_fname, problem));
  return files;  // a path that cannot be found out is empty
}

bool same_bytes(const fs::path& a, const fs::path& b) {
  std::ifstream first(a, std::ios::binary), second(b, std::ios::binary);
  using Bytes = std::istreambuf_iterator<char>;
  return first && second && std::equal(Bytes(first), Bytes(), Bytes(second), Bytes());
}

/// Whether two files, or the files right in two folders, say the same.
bool say_the_same(const fs::path& a, const fs::path& b) {
  std::error_code problem;
  if (!fs::is_directory(a, problem)) return same_bytes(a, b);
  const auto count = [&](const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder, problem), fs::directory_iterator());
  };
  return count(a) == count(b) && std::all_of(fs::directory_iterator(a, problem), fs::directory_iterator(),
                                             [&](const fs::directory_entry& entry) {
                                               return entry.is_directory(problem) ||
                                                      same_bytes(entry.path(), b / entry.path().filename());
                                             });
}

/// True once for each path: a job loads its configs many times.
bool is_first_time(const fs::path& path) {
  static Mutex mutex;
  static std::set<fs::path> told GUARDED_BY(mutex);
  const MutexLock lock(mutex);
  return told.insert(path).second;
}

/// Warns of a file of the same name here, which the user may have meant.
void tell_what_is_passed_over(const fs::path& path, const fs::path& taken) {
  std::error_code problem;
  if (!fs::exists(path, problem) || fs::equivalent(path, taken, problem)) return;
  if (say_the_same(path, taken) || !is_first_time(path)) return;
  std::fprintf(stderr,
               "regraft: warning: %s is the installation's, not the one here (for that one write ./%s)\n",
               path.c_str(), path.c_str());
}

}  // namespace

fs::path find_config(const fs::path& path) {
  const bool named_as_ours = path.is_relative() && !path.empty() && *path.begin() == kFolder;
  if (path.is_absolute() || (fs::exists(path) && !named_as_ours)) return path;
  for (const fs::path& file : own_files())
    for (fs::path folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
      if (fs::exists(folder / path)) {
        tell_what_is_passed_over(path, folder / path);
        return folder / path;
      }
  return path;
}

}
