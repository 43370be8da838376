#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/crc32c.h"
#include "core/base/file.h"

namespace regraft {
namespace events {

namespace fs = std::filesystem;
using Input = google::protobuf::io::CodedInputStream;
using Wire = google::protobuf::internal::WireFormatLite;

constexpr std::size_t header_bytes = 12, footer_bytes = 4;  // of a TFRecord

template <typename T>
T little_endian(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  static_assert(std::endian::native == std::endian::little);
  return value;
}

inline bool checksum_holds(std::string_view bytes, std::string_view checksum) {
  return masked_crc32c(std::as_bytes(std::span(bytes))) == little_endian<std::uint32_t>(checksum);
}

/// Records of a file's bytes; the last one may be torn.
inline std::vector<std::string_view> records(std::string_view bytes, const fs::path& path) {
  std::vector<std::string_view> all;
  std::size_t at = 0;
  while (bytes.size() - at >= header_bytes) {
    const std::string_view length = bytes.substr(at, 8);
    if (!checksum_holds(length, bytes.substr(at + 8, 4)))
      throw FileError("record " + std::to_string(all.size()) + " has a wrong checksum", path.string(),
                      "the file is damaged: remove it");
    const std::uint64_t size = little_endian<std::uint64_t>(length);
    if (size > bytes.size() - at - header_bytes || bytes.size() - at - header_bytes - size < footer_bytes)
      break;
    const std::string_view body = bytes.substr(at + header_bytes, size);
    at += header_bytes + size;
    if (!checksum_holds(body, bytes.substr(at, 4)))
      throw FileError("record " + std::to_string(all.size()) + " has a wrong checksum", path.string(),
                      "the file is damaged: remove it");
    at += footer_bytes;
    all.push_back(body);
  }
  return all;
}

inline Input input_of(std::string_view bytes) {
  return Input(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
}

inline std::optional<std::string> read_bytes(Input& input) {
  std::uint32_t size = 0;
  std::string bytes;
  if (!input.ReadVarint32(&size) || !input.ReadString(&bytes, static_cast<int>(size))) return std::nullopt;
  return bytes;
}

struct Scalar {
  std::string tag;
  std::optional<float> value;
};

// Field numbers of tensorflow's event.proto and summary.proto.
inline Scalar read_value(const std::string& bytes) {
  constexpr int tag_field = 1, simple_value_field = 2;
  Scalar scalar;
  Input input = input_of(bytes);
  while (const std::uint32_t tag = input.ReadTag()) {
    std::uint32_t bits = 0;
    if (Wire::GetTagFieldNumber(tag) == tag_field) {
      scalar.tag = read_bytes(input).value_or("");
    } else if (Wire::GetTagFieldNumber(tag) == simple_value_field && input.ReadLittleEndian32(&bits)) {
      scalar.value = std::bit_cast<float>(bits);
    } else if (!Wire::SkipField(&input, tag)) {
      break;
    }
  }
  return scalar;
}

using Curves = std::map<std::string, std::map<std::int64_t, double>>;

/// The curves of one file.
struct FileCurves {
  Curves curves;
  std::optional<std::int64_t> first, restart;
};

inline void read_event(std::string_view bytes, FileCurves& file) {
  constexpr int step_field = 2, summary_field = 5, session_field = 7, value_field = 1;
  std::int64_t step = 0;
  bool session = false;
  std::vector<std::string> summaries;
  Input input = input_of(bytes);
  while (const std::uint32_t tag = input.ReadTag()) {
    std::uint64_t number = 0;
    if (Wire::GetTagFieldNumber(tag) == step_field && input.ReadVarint64(&number)) {
      step = static_cast<std::int64_t>(number);
    } else if (Wire::GetTagFieldNumber(tag) == summary_field) {
      summaries.push_back(read_bytes(input).value_or(""));
    } else if (Wire::GetTagFieldNumber(tag) == session_field && read_bytes(input)) {
      session = true;
    } else if (!Wire::SkipField(&input, tag)) {
      break;
    }
  }
  if (session) file.restart = std::min(file.restart.value_or(step), step);
  for (const std::string& summary : summaries) {
    Input values = input_of(summary);
    while (const std::uint32_t tag = values.ReadTag()) {
      if (Wire::GetTagFieldNumber(tag) != value_field) {
        if (!Wire::SkipField(&values, tag)) break;
        continue;
      }
      const Scalar scalar = read_value(read_bytes(values).value_or(""));
      if (!scalar.value) continue;
      file.curves[scalar.tag][step] = static_cast<double>(*scalar.value);
      file.first = std::min(file.first.value_or(step), step);
    }
  }
}

/// The file is younger than what the curves hold.
inline void append(Curves& curves, const FileCurves& file) {
  if (const auto cut = file.restart ? file.restart : file.first)
    for (auto& [tag, points] : curves) points.erase(points.lower_bound(*cut), points.end());
  for (const auto& [tag, points] : file.curves) curves[tag].insert(points.begin(), points.end());
}

inline std::vector<fs::path> event_files(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  try {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (entry.path().filename().string().starts_with("events.out.tfevents."))
        files.emplace_back(entry.last_write_time(), entry.path());
  } catch (const fs::filesystem_error& error) {
    throw FileError(error.code().message(), folder.string(), "name the folder of a run's event files");
  }
  std::sort(files.begin(), files.end());
  std::vector<fs::path> paths;
  for (auto& [time, path] : files) paths.push_back(std::move(path));
  return paths;
}

}

struct ScalarPoint {
  std::int64_t step = 0;
  double value = 0;
};

/// The scalar curves of all TensorBoard event files of a folder, by tag, in ascending steps. What a resume
/// rolled back is gone: the step that a younger file restarts at, or else its first one, cuts off that step
/// and all later ones of older files. A torn last record is left out; histograms and what else an event may
/// hold are passed over. Throws FileError on a folder that cannot be read and on a file with a wrong checksum
/// before its end.
inline std::map<std::string, std::vector<ScalarPoint>> read_scalars(const std::filesystem::path& folder) {
  using namespace events;
  Curves curves;
  for (const fs::path& path : event_files(folder)) {
    const std::string bytes = read_file(path);
    FileCurves file;
    for (const std::string_view record : records(bytes, path)) read_event(record, file);
    append(curves, file);
  }
  std::map<std::string, std::vector<ScalarPoint>> sorted;
  for (const auto& [tag, points] : curves)  // a curve may have been rolled back whole
    for (const auto& [step, value] : points) sorted[tag].push_back({step, value});
  return sorted;
}

}
