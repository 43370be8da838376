#include "core/base/sha256.h"

#include <sodium/utils.h>

#include <fstream>
#include <vector>

#include "core/base/file.h"

namespace regraft {

Sha256::Sha256() {
  crypto_hash_sha256_init(&state_);
}

void Sha256::update(std::span<const std::byte> chunk) {
  crypto_hash_sha256_update(&state_, reinterpret_cast<const unsigned char*>(chunk.data()), chunk.size());
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest;
  crypto_hash_sha256_final(&state_, digest.data());
  return digest;
}

std::string to_hex(const Sha256Digest& digest) {
  std::string text(2 * digest.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), digest.data(), digest.size());
  text.pop_back();
  return text;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return to_hex(hash.finish());
}

std::string sha256_hex(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text.data(), text.size())));
}

std::string sha256_file(const std::filesystem::path& path) {
  constexpr std::size_t chunk_bytes = 1 << 20;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> chunk(chunk_bytes);
  Sha256 hash;
  while (file) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    hash.update(std::as_bytes(std::span(chunk.data(), static_cast<std::size_t>(file.gcount()))));
  }
  if (!file.eof()) throw FileError("cannot be read", path.string(), "check the path and its permissions");
  return to_hex(hash.finish());
}

}
