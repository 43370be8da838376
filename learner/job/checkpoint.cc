#include "learner/job/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "learner/job/run_folder.h"

namespace regraft::learner {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kPrefix[] = "checkpoint-";
constexpr char kAside[] = ".aside-";      // half of a save
constexpr char kReplaced[] = ".before-";  // saved again: the old one, until the new one is in place
constexpr char kManifest[] = "manifest.json";

/// The number in a folder's name that is the prefix and a number; else nothing.
std::optional<std::uint64_t> number_of(const fs::path& path, const char* prefix = kPrefix) {
  const std::string name = path.filename().string();
  if (!name.starts_with(prefix)) return std::nullopt;
  std::uint64_t number = 0;
  const char* const begin = name.data() + std::strlen(prefix);
  const auto [end, problem] = std::from_chars(begin, name.data() + name.size(), number);
  if (problem != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

[[noreturn]] void damaged(const fs::path& path, const std::string& problem) {
  throw CheckpointError(problem, path.string(), "an older checkpoint of the run may be intact");
}

std::vector<std::uint64_t> numbers_in(const fs::path& folder) {
  std::vector<std::uint64_t> numbers;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (const auto number = number_of(entry.path())) numbers.push_back(*number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// For a folder that is no checkpoint: those that are in it, or in the run that it is of.
void require_checkpoint(const fs::path& path) {
  if (fs::exists(path / kManifest)) return;
  for (const fs::path& folder : {path, RunFolder{path}.checkpoints()}) {
    if (!fs::is_directory(folder)) continue;
    std::vector<std::string> names;
    for (const std::uint64_t number : numbers_in(folder)) names.push_back(kPrefix + std::to_string(number));
    if (!names.empty())
      throw CheckpointError("is no checkpoint; it holds " + join(names, ", "), folder.string(),
                            "name one of them: " + (folder / names.back()).string());
  }
  throw CheckpointError("is no checkpoint, and holds none", path.string(),
                        "name a folder RUN/checkpoints/checkpoint-N");
}

json read_manifest(const fs::path& checkpoint) {
  const json manifest = json::parse(read_file(checkpoint / kManifest), nullptr, false);
  if (!manifest.is_object() || !manifest.contains("schema") || !manifest["schema"].is_number_integer())
    damaged(checkpoint, "the manifest is no JSON object with a schema");
  if (manifest["schema"] != CheckpointStore::kSchema)
    throw OtherSchemaError("is of schema " + manifest["schema"].dump() + "; this program reads " +
                               std::to_string(CheckpointStore::kSchema),
                           checkpoint.string(),
                           "resume with the version of regraft that wrote it, or use another run folder");
  const bool whole = manifest.contains("parts") && manifest["parts"].is_object() &&
                     manifest.contains("number") && manifest["number"].is_number_unsigned() &&
                     manifest.contains("state");
  if (!whole) damaged(checkpoint, "the manifest lacks parts, number or state");
  return manifest;
}

wire::JournalMark mark_of(const json& state) {
  try {
    return {state.at("run_id"), state.at("generation"), state.at("journal_offset")};
  } catch (const json::exception& error) {
    throw CheckpointError(std::string("its state has no journal mark: ") + error.what(), "checkpoint",
                          "an older checkpoint of the run may be intact");
  }
}

/// Removes a folder when it goes out of scope, unless it was renamed away.
class StagingFolder {
 public:
  explicit StagingFolder(fs::path path) : path_(std::move(path)) {
    fs::remove_all(path_);
    std::error_code problem;
    if (!fs::create_directory(path_, problem) || problem)
      throw FileError("cannot be made: " + problem.message(), path_.string(),
                      "check the folder's permissions and the disk");
  }
  ~StagingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

CheckpointStore::CheckpointStore(fs::path folder, std::size_t kept)
    : folder_(std::move(folder)), kept_(std::max<std::size_t>(kept, 1)) {
  std::error_code problem;
  fs::create_directories(folder_, problem);
  if (problem)
    throw FileError("cannot be made: " + problem.message(), folder_.string(), "choose a writable run folder");
  recover();
}

void CheckpointStore::recover() {
  std::vector<fs::path> left;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) left.push_back(entry.path());
  for (const fs::path& path : left) {
    if (path.filename().string().starts_with(kAside)) fs::remove_all(path);
    const auto number = number_of(path, kReplaced);
    if (!number) continue;
    if (fs::exists(path_of(*number))) {
      fs::remove_all(path);
      continue;
    }
    std::error_code problem;
    fs::rename(path, path_of(*number), problem);
    if (problem)
      throw FileError("cannot be renamed: " + problem.message(), path.string(),
                      "check the folder's permissions and the disk");
    sync_folder(folder_);
    log_warning("checkpoint {} put back: a save of the same number was interrupted", *number);
  }
}

fs::path CheckpointStore::path_of(std::uint64_t number) const {
  return folder_ / (kPrefix + std::to_string(number));
}

void CheckpointStore::save(const Checkpoint& checkpoint) {
  const StagingFolder aside(folder_ / (kAside + std::to_string(checkpoint.number)));
  json manifest{{"schema", kSchema}, {"number", checkpoint.number}, {"parts", json::object()}};
  manifest["state"] = json::parse(checkpoint.state, nullptr, false);
  if (manifest["state"].is_discarded()) damaged(aside.path(), "the state to save is no JSON");
  for (const auto& [name, bytes] : checkpoint.parts) {
    write_file_atomic(aside.path() / name, bytes);
    manifest["parts"][name] = {{"sha256", sha256_hex(bytes)}, {"size_bytes", bytes.size()}};
  }
  write_file_atomic(aside.path() / kManifest, manifest.dump(1) + "\n");
  const fs::path place = path_of(checkpoint.number),
                 old = folder_ / (kReplaced + std::to_string(checkpoint.number));
  std::error_code problem, ignored;
  const bool again = fs::exists(place);
  if (again) {
    fs::remove_all(old, ignored);
    fs::rename(place, old, problem);
  }
  if (!problem) fs::rename(aside.path(), place, problem);
  if (problem) {
    if (again && !fs::exists(place)) fs::rename(old, place, ignored);
    throw FileError("cannot be renamed: " + problem.message(), aside.path().string(), "check the disk");
  }
  sync_folder(folder_);
  fs::remove_all(old, ignored);
  std::vector<std::uint64_t> numbers = list();
  for (std::size_t i = 0; i + kept_ < numbers.size(); ++i)
    if (numbers[i] != checkpoint.number) fs::remove_all(path_of(numbers[i]), ignored);
  log_info("checkpoint {} written", checkpoint.number);
}

std::vector<std::uint64_t> CheckpointStore::list() const {
  return numbers_in(folder_);
}

wire::JournalMark CheckpointStore::oldest_mark() const {
  const std::vector<std::uint64_t> numbers = list();
  return numbers.empty() ? wire::JournalMark{} : mark_of(read_manifest(path_of(numbers.front()))["state"]);
}

Checkpoint CheckpointStore::load(const fs::path& path) {
  const json manifest = read_manifest(path);
  Checkpoint checkpoint;
  checkpoint.number = manifest["number"];
  checkpoint.state = manifest["state"].dump();
  for (const auto& [name, facts] : manifest["parts"].items()) {
    const std::string text = read_file(path / name);
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    if (!facts.contains("sha256") || facts["sha256"] != sha256_hex(bytes))
      damaged(path / name, "its SHA-256 is another");
    checkpoint.parts[name].assign(bytes.begin(), bytes.end());
  }
  return checkpoint;
}

std::string CheckpointStore::describe(const fs::path& path) {
  require_checkpoint(path);
  load(path);
  return read_manifest(path).dump(2);
}

std::optional<Checkpoint> CheckpointStore::load_newest(std::vector<std::string>& problems) const {
  const std::vector<std::uint64_t> numbers = list();
  for (auto at = numbers.rbegin(); at != numbers.rend(); ++at) {
    try {
      return load(path_of(*at));
    } catch (const OtherSchemaError&) {
      throw;
    } catch (const Error& error) {
      problems.push_back(error.what());
    }
  }
  return std::nullopt;
}

std::optional<Checkpoint> CheckpointStore::resume(const std::string& phase) const {
  std::vector<std::string> problems;
  auto checkpoint = load_newest(problems);
  for (const std::string& problem : problems) log_warning("checkpoint skipped: {}", problem);
  if (!checkpoint && !problems.empty())
    throw CheckpointError("none of the run's checkpoints can be read: " + problems.front(), folder_.string(),
                          "repair or remove them; removing all starts the training anew");
  if (!checkpoint) return checkpoint;
  if (const auto own = json::parse(checkpoint->state).value("phase", phase); own != phase)
    throw CheckpointError("is of the phase " + own + ", the job's is " + phase,
                          path_of(checkpoint->number).string(), "use another run folder");
  log_info("resumes from {}", path_of(checkpoint->number).string());
  return checkpoint;
}

json checkpoint_state(const std::string& phase, const std::string& config_toml,
                      const wire::JournalMark& mark) {
  return {{"phase", phase},
          {"config", config_toml},
          {"run_id", mark.run_id},
          {"generation", mark.generation},
          {"journal_offset", mark.offset}};
}

void roll_back(wire::Ledger& ledger, const std::optional<Checkpoint>& checkpoint) {
  if (!checkpoint) {
    // What a generation admitted that died before its first checkpoint is lost to training.
    if (ledger.generation() > 1) ledger.roll_back({ledger.run_id(), 0, 0});
    return;
  }
  ledger.roll_back(mark_of(json::parse(checkpoint->state)));
}

}
