#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/wire/ledger.h"

namespace regraft::learner {

class CheckpointError : public Error {
 public:
  using Error::Error;
};
/// It may be intact, but another version of the program wrote it.
class OtherSchemaError : public CheckpointError {
 public:
  using CheckpointError::CheckpointError;
};

/// The state of a training job at one moment: binary parts by name (weights, optimiser, replay...), and a
/// JSON text with what is small (config, counters, random streams, journal mark).
struct Checkpoint {
  std::uint64_t number = 0;  // ascending within a run: the update count
  std::string state;         // JSON
  std::map<std::string, std::vector<std::byte>> parts;
};

/// The checkpoints of one run, each a folder `checkpoint-<number>` with one file a part and a manifest that
/// holds the schema version and the SHA-256 of every part. A checkpoint is written aside, synced and renamed:
/// it is there whole or not at all. One that is saved again is kept under another name until the new one is
/// in place; where a save ended in between, the next store puts it back. One thread.
class CheckpointStore {
 public:
  static constexpr int kSchema = 4;

  /// Makes the folder where needed; `kept` >= 1 newest checkpoints are kept. Removes what an interrupted save
  /// left aside, and puts back what it was about to replace.
  CheckpointStore(std::filesystem::path folder, std::size_t kept);

  /// Throws FileError or CheckpointError (a full disk, say); earlier checkpoints are then as before and
  /// nothing is left aside.
  void save(const Checkpoint& checkpoint);

  /// The newest one whose parts all have their hashes; what is wrong with newer ones is appended to
  /// `problems`. Nothing when there is none. Throws OtherSchemaError where it meets one of another schema: to
  /// go on from an older one would throw training away.
  std::optional<Checkpoint> load_newest(std::vector<std::string>& problems) const;

  /// What a run that starts in its folder goes on from: the newest intact checkpoint, nothing in a new run.
  /// Damaged ones are logged; where none of them can be read it refuses with CheckpointError, since to begin
  /// anew would throw the training away unnoticed. So it does with one of another phase or schema.
  std::optional<Checkpoint> resume(const std::string& phase) const;

  /// Throws CheckpointError that says what is damaged, and OtherSchemaError.
  static Checkpoint load(const std::filesystem::path& checkpoint);
  /// The manifest as JSON text, parts' hashes checked: for `regraft inspect`. Throws as load(), and for
  /// another folder CheckpointError that names the checkpoints in it.
  static std::string describe(const std::filesystem::path& checkpoint);

  /// Numbers, ascending.
  std::vector<std::uint64_t> list() const;
  std::filesystem::path path_of(std::uint64_t number) const;
  /// The mark of the oldest checkpoint there is. Throws CheckpointError where that is damaged.
  wire::JournalMark oldest_mark() const;

 private:
  void recover();

  std::filesystem::path folder_;
  std::size_t kept_;
};

/// What the state of every phase's checkpoint begins with; more keys may be added.
nlohmann::json checkpoint_state(const std::string& phase, const std::string& config_toml,
                                const wire::JournalMark& mark);

/// The ticket counts after resuming from this checkpoint, or from none: what was admitted behind its mark, or
/// in all generations before this one, is rolled back. Throws WireError as Ledger::roll_back() does.
void roll_back(wire::Ledger& ledger, const std::optional<Checkpoint>& checkpoint);

}
