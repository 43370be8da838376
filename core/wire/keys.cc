#include "core/wire/keys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>

#include "core/base/atomic_file.h"
#include "core/base/file.h"

namespace regraft::wire {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKeyTextBytes = 40;
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kMaxNameBytes = 64;

[[noreturn]] void fail(const std::string& what, const std::string& where, const std::string& remedy) {
  throw WireError(WireFault::kKey, what, where, remedy);
}

std::string first_word(const fs::path& path) {
  std::istringstream text(read_file(path));
  std::string word;
  text >> word;
  return word;
}

}  // namespace

KeyPair::~KeyPair() {
  ::explicit_bzero(secret_key.data(), secret_key.size());
}

KeyPair make_key_pair() {
  std::array<char, kKeyTextBytes + 1> public_key{}, secret_key{};
  if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0) {
    fail("this libzmq has no CURVE", "libzmq", "install a libzmq with libsodium");
  }
  KeyPair pair(public_key.data(), secret_key.data());
  ::explicit_bzero(secret_key.data(), secret_key.size());
  return pair;
}

bool is_key(std::string_view text) {
  std::array<std::uint8_t, kKeyBytes> bytes{};
  return text.size() == kKeyTextBytes && zmq_z85_decode(bytes.data(), std::string(text).c_str()) != nullptr;
}

std::string key_from_hex(std::string_view hex) {
  const bool digits =
      std::all_of(hex.begin(), hex.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (hex.size() != 2 * kKeyBytes || !digits)
    fail("this is no key", std::string(hex), "64 hex digits are meant");
  std::array<std::uint8_t, kKeyBytes> bytes{};
  for (std::size_t i = 0; i < kKeyBytes; ++i) {
    bytes[i] = static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(2 * i, 2)), nullptr, 16));
  }
  std::array<char, kKeyTextBytes + 1> text{};
  zmq_z85_encode(text.data(), bytes.data(), bytes.size());
  return text.data();
}

void save_key_pair(const fs::path& path, const KeyPair& keys) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) {
    fail("cannot write the key file: " + std::generic_category().message(errno), path.string(),
         errno == EEXIST ? "remove the old one first if it is not needed" : "is the folder writable?");
  }
  std::string text = "public " + keys.public_key + "\nsecret " + keys.secret_key + "\n";
  write_fully(file.get(), std::as_bytes(std::span(text)), path);
  ::explicit_bzero(text.data(), text.size());
}

KeyPair load_key_pair(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    fail("cannot read the key file: " + std::generic_category().message(errno), path.string(),
         "give the file that `regraft keys` or the learner wrote");
  }
  if ((status.st_mode & 077) != 0) fail("others may read this secret key", path.string(), "chmod 600 it");
  std::istringstream text(read_file(path));
  std::string public_word, secret_word;
  KeyPair keys;
  text >> public_word >> keys.public_key >> secret_word >> keys.secret_key;
  if (public_word != "public" || secret_word != "secret" || !is_key(keys.public_key) ||
      !is_key(keys.secret_key)) {
    fail("this is no key file", path.string(), "two lines are meant: public KEY, secret KEY");
  }
  std::array<char, kKeyTextBytes + 1> derived{};
  if (zmq_curve_public(derived.data(), keys.secret_key.c_str()) != 0 || keys.public_key != derived.data()) {
    fail("the public key does not belong to the secret one", path.string(), "make a new pair");
  }
  return keys;
}

KeyPair load_or_make_key_pair(const fs::path& path) {
  if (!fs::exists(path)) save_key_pair(path, make_key_pair());
  return load_key_pair(path);
}

AuthorisedKeys::AuthorisedKeys(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    fail("cannot make the folder: " + error.message(), folder_.string(), "is the run folder writable?");
  reload();
}

fs::path AuthorisedKeys::file_of(std::string_view name) const {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  };
  const bool good = !name.empty() && name.size() <= kMaxNameBytes && name.front() != '.' &&
                    std::all_of(name.begin(), name.end(), allowed);
  if (!good)
    fail("this is no name for a key", std::string(name), "letters, digits, '.', '_' and '-', at most 64");
  return folder_ / (std::string(name) + ".pub");
}

void AuthorisedKeys::add(std::string_view name, std::string_view public_key) {
  if (!is_key(public_key)) fail("this is no public key", std::string(public_key), "a key has 40 characters");
  write_file_atomic(file_of(name), std::string(public_key) + "\n");
  reload();
}

bool AuthorisedKeys::revoke(std::string_view name) {
  std::error_code error;
  const bool removed = fs::remove(file_of(name), error);
  if (error)
    fail("cannot remove the key: " + error.message(), file_of(name).string(), "is the folder writable?");
  reload();
  return removed;
}

std::vector<AuthorisedKeys::Entry> AuthorisedKeys::list() const {
  std::vector<Entry> entries;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder_, error)) {
    if (file.path().extension() != ".pub") continue;
    try {
      Entry entry{file.path().stem().string(), first_word(file.path())};
      if (is_key(entry.public_key)) entries.push_back(std::move(entry));
    } catch (const FileError&) {  // revoked between the listing and the reading
      continue;
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

void AuthorisedKeys::reload() {
  std::set<std::string, std::less<>> keys;
  for (Entry& entry : list()) keys.insert(std::move(entry.public_key));
  const MutexLock lock(mutex_);
  keys_ = std::move(keys);
}

bool AuthorisedKeys::contains(std::string_view public_key) const {
  const MutexLock lock(mutex_);
  return keys_.find(public_key) != keys_.end();
}

}
