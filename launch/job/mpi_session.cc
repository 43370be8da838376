#include "launch/job/mpi_session.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "launch/job/mpi_plugin.h"

namespace regraft::launch {
namespace {

constexpr std::array kRankVariables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};

std::filesystem::path plugin_path() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libregraft_mpi.so";
}

template <typename F>
F* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (!found) throw LaunchError(dlerror(), plugin_path().string(), "rebuild the program");
  return reinterpret_cast<F*>(found);
}

void check(int code, const char* what) {
  if (code != 0) throw LaunchError("MPI error " + std::to_string(code), what, "see what mpirun printed");
}

std::array<char, REGRAFT_MPI_TEXT> fixed(const std::string& text) {
  if (text.size() >= REGRAFT_MPI_TEXT)
    throw LaunchError("text of " + std::to_string(text.size()) + " bytes", "MPI exchange",
                      "at most 4095 fit");
  std::array<char, REGRAFT_MPI_TEXT> buffer{};
  std::memcpy(buffer.data(), text.data(), text.size());
  return buffer;
}

}  // namespace

struct MpiSession::Plugin {
  void* library;
  decltype(regraft_mpi_start)* start;
  decltype(regraft_mpi_gather)* gather;
  decltype(regraft_mpi_broadcast)* broadcast;
  decltype(regraft_mpi_stop)* stop;
};

bool started_by_mpi() {
  for (const char* name : kRankVariables)
    if (std::getenv(name)) return true;
  return false;
}

MpiSession::MpiSession() {
  // RTLD_GLOBAL: Open MPI loads components that look for its own symbols in the process.
  void* library = dlopen(plugin_path().c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    const std::string why = dlerror();
    throw LaunchError(
        "MPI cannot be loaded: " + why, plugin_path().string(),
        "install libopenmpi-dev and openmpi-bin and rebuild, or run `regraft train` without mpirun");
  }
  plugin_.reset(new Plugin{library, symbol<decltype(regraft_mpi_start)>(library, "regraft_mpi_start"),
                           symbol<decltype(regraft_mpi_gather)>(library, "regraft_mpi_gather"),
                           symbol<decltype(regraft_mpi_broadcast)>(library, "regraft_mpi_broadcast"),
                           symbol<decltype(regraft_mpi_stop)>(library, "regraft_mpi_stop")});
  check(plugin_->start(&rank_, &size_), "MPI_Init");
  const char* told = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (!told) told = std::getenv("PMI_SIZE");
  if (told && std::atoi(told) != size_) {
    plugin_->stop();
    throw LaunchError(
        "the launcher started " + std::string(told) + " ranks but MPI sees " + std::to_string(size_),
        "MPI_Init", "start with the mpirun of the Open MPI that the program was built with");
  }
}

MpiSession::~MpiSession() {
  if (plugin_) plugin_->stop();
}

std::vector<std::string> MpiSession::gather(const std::string& text) {
  const auto mine = fixed(text);
  std::vector<char> all(rank_ == 0 ? static_cast<std::size_t>(size_) * REGRAFT_MPI_TEXT : 0);
  check(plugin_->gather(mine.data(), all.data()), "MPI_Gather");
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size(); at += REGRAFT_MPI_TEXT) texts.emplace_back(all.data() + at);
  return texts;
}

std::string MpiSession::broadcast(const std::string& text) {
  auto buffer = fixed(text);
  check(plugin_->broadcast(buffer.data()), "MPI_Bcast");
  return buffer.data();
}

}
