#pragma once

#include <sodium/crypto_hash_sha256.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace regraft {

using Sha256Digest = std::array<unsigned char, crypto_hash_sha256_BYTES>;

/// SHA-256 (FIPS 180-4) over chunks, by libsodium.
class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> chunk);
  /// Ends the hash; the object must not be used again.
  Sha256Digest finish();

 private:
  crypto_hash_sha256_state state_;
};

/// 64 lower-case hex digits.
std::string to_hex(const Sha256Digest& digest);
std::string sha256_hex(std::span<const std::byte> bytes);
std::string sha256_hex(std::string_view text);
/// The hash of a file's content, read in chunks. Throws FileError.
std::string sha256_file(const std::filesystem::path& path);

}
