#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/inflate.h"

/// NumPy archives as numpy.savez and numpy.savez_compressed write them.
namespace regraft::exec::testing {

template <typename T>
void append(std::string& out, T number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

inline std::string npy(const std::string& descr, const std::string& shape, const std::string& elements,
                       const std::string& fortran_order = "False") {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + fortran_order + ", 'shape': " + shape + ", }";
  header.resize((header.size() + 10 + 63) / 64 * 64 - 10, ' ');
  std::string out("\x93NUMPY\x01\x00", 8);
  append(out, static_cast<std::uint16_t>(header.size()));
  return out + header + elements;
}

inline std::string deflated(const std::string& text) {
  constexpr std::size_t kHeader = 2, kTrailer = 4;  // of zlib, about the stream (RFC 1950)
  uLongf bytes = compressBound(text.size());
  std::string packed(bytes, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &bytes, reinterpret_cast<const Bytef*>(text.data()),
           text.size());
  return packed.substr(kHeader, bytes - kHeader - kTrailer);
}

/// An archive as numpy.savez (or savez_compressed) writes it.
inline std::string npz(const std::vector<std::pair<std::string, std::string>>& arrays, bool compressed) {
  std::string out, directory;
  for (const auto& [name, contents] : arrays) {
    const std::string packed = compressed ? deflated(contents) : contents, file = name + ".npy";
    std::string common;  // of both headers, from the version needed on
    for (const int field : {20, 0, compressed ? 8 : 0, 0, 0})
      append(common, static_cast<std::uint16_t>(field));
    for (const std::size_t field : {std::size_t{0}, packed.size(), contents.size()})
      append(common, static_cast<std::uint32_t>(field));
    append(common, static_cast<std::uint16_t>(file.size()));
    append(common, std::uint16_t{0});
    const auto offset = static_cast<std::uint32_t>(out.size());
    append(out, std::uint32_t{0x04034b50});
    out += common + file + packed;
    append(directory, std::uint32_t{0x02014b50});
    append(directory, std::uint16_t{20});
    directory += common;
    for (int i = 0; i < 3; ++i) append(directory, std::uint16_t{0});
    append(directory, std::uint32_t{0});
    append(directory, offset);
    directory += file;
  }
  const auto begin = static_cast<std::uint32_t>(out.size());
  out += directory;
  append(out, std::uint32_t{0x06054b50});
  append(out, std::uint32_t{0});
  for (int i = 0; i < 2; ++i) append(out, static_cast<std::uint16_t>(arrays.size()));
  append(out, static_cast<std::uint32_t>(directory.size()));
  append(out, begin);
  append(out, std::uint16_t{0});
  return out;
}

inline std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

}
