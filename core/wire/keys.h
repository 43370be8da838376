#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/mutex.h"
#include "core/wire/wire_error.h"

namespace regraft::wire {

/// A CURVE key pair (Curve25519), both halves as 40 characters of Z85. The secret is wiped from memory on
/// destruction.
struct KeyPair {
  std::string public_key;
  std::string secret_key;

  KeyPair() = default;
  KeyPair(std::string public_text, std::string secret_text)
      : public_key(std::move(public_text)), secret_key(std::move(secret_text)) {}
  KeyPair(const KeyPair&) = default;
  KeyPair(KeyPair&&) = default;
  KeyPair& operator=(const KeyPair&) = default;
  KeyPair& operator=(KeyPair&&) = default;
  ~KeyPair();
};

KeyPair make_key_pair();
bool is_key(std::string_view text);
/// A key of 64 hex digits, as it stands where Z85's punctuation does not fit.
std::string key_from_hex(std::string_view hex);

/// Writes a new file that only its owner may read (0600). Throws WireError(kKey) if it exists.
void save_key_pair(const std::filesystem::path& path, const KeyPair& keys);
/// Throws WireError(kKey) if the file is missing, is not a matching pair, or others may read it.
KeyPair load_key_pair(const std::filesystem::path& path);
/// The pair in the file, made on first use.
KeyPair load_or_make_key_pair(const std::filesystem::path& path);

/// The folder that says who may join: one file `<name>.pub` a key, holding the public key. `regraft keys
/// add|revoke` edit it, a running learner rereads it. Thread-safe; one process may edit while another reads.
class AuthorisedKeys {
 public:
  struct Entry {
    std::string name;
    std::string public_key;
  };

  /// Makes the folder if it is missing. Throws WireError(kKey) if it cannot.
  explicit AuthorisedKeys(std::filesystem::path folder);

  /// Replaces the key of a name that exists. Names: 1 to 64 of letters, digits, '.', '_', '-', not first '.'.
  void add(std::string_view name, std::string_view public_key);
  /// False if there was no such name.
  bool revoke(std::string_view name);
  /// Sorted by name; files that hold no key are left out.
  std::vector<Entry> list() const;

  /// Rereads the folder; contains() answers from the last reading.
  void reload();
  bool contains(std::string_view public_key) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path file_of(std::string_view name) const;

  std::filesystem::path folder_;
  mutable Mutex mutex_;
  std::set<std::string, std::less<>> keys_ GUARDED_BY(mutex_);
};

}
