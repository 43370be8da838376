#include "core/base/event_writer.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <limits>
#include <system_error>
#include <vector>

#include "core/base/crc32c.h"
#include "core/base/log.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;
using Wire = google::protobuf::internal::WireFormatLite;

constexpr std::size_t flush_at_bytes = 64 * 1024;

// Field numbers of tensorflow's event.proto and summary.proto.
namespace event_field {
constexpr int wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7;
}
namespace session_log_field {
constexpr int status = 1, start = 1;  // TensorBoard drops steps from the event's on
}
namespace summary_field {
constexpr int value = 1;
}
namespace value_field {
constexpr int tag = 1, simple_value = 2, histogram = 5;
}
namespace histogram_field {
constexpr int min = 1, max = 2, count = 3, sum = 4, sum_squares = 5, limits = 6, counts = 7;
}

template <typename Fill>
std::string message(Fill fill) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  fill(&out);
  out.Trim();
  return bytes;
}

std::string little_endian(std::uint64_t value, int size_bytes) {
  std::string bytes;
  for (int i = 0; i < size_bytes; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xFF);
  return bytes;
}

std::string packed(std::span<const double> values) {
  std::string bytes;
  for (const double value : values) bytes += little_endian(std::bit_cast<std::uint64_t>(value), 8);
  return bytes;
}

std::uint32_t masked_crc(const std::string& text) {
  return masked_crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

// TensorFlow's bucket bounds: powers of 1.1 from 1e-12 to 1e20, their negatives, and zero.
std::vector<double> bucket_limits() {
  std::vector<double> limits;
  for (double bound = 1e-12; bound < 1e20; bound *= 1.1) limits.push_back(bound);
  limits.push_back(std::numeric_limits<double>::max());
  std::vector<double> all;
  for (auto it = limits.rbegin(); it != limits.rend(); ++it) all.push_back(-*it);
  all.push_back(0.0);
  all.insert(all.end(), limits.begin(), limits.end());
  return all;
}

struct Buckets {
  std::vector<double> limits, counts;
};

// The buckets from the first to the last filled one, after an empty one that bounds the first from below.
Buckets fill_buckets(std::span<const double> values) {
  const std::vector<double> limits = bucket_limits();
  std::vector<double> counts(limits.size());
  for (const double value : values) {
    const auto at = std::lower_bound(limits.begin(), limits.end(), value) - limits.begin();
    counts[static_cast<std::size_t>(at)] += 1;
  }
  const auto filled = [](double count) { return count > 0; };
  auto first = std::find_if(counts.begin(), counts.end(), filled) - counts.begin();
  const auto end = counts.rend() - std::find_if(counts.rbegin(), counts.rend(), filled);
  first = std::max<std::ptrdiff_t>(0, first - 1);
  return {{limits.begin() + first, limits.begin() + end}, {counts.begin() + first, counts.begin() + end}};
}

std::string histogram_message(std::span<const double> values) {
  double low = 0, high = 0, sum = 0, sum_squares = 0;
  Buckets buckets;
  if (!values.empty()) {
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    low = *min;
    high = *max;
    buckets = fill_buckets(values);
  }
  for (const double value : values) {
    sum += value;
    sum_squares += value * value;
  }
  return message([&](google::protobuf::io::CodedOutputStream* out) {
    Wire::WriteDouble(histogram_field::min, low, out);
    Wire::WriteDouble(histogram_field::max, high, out);
    Wire::WriteDouble(histogram_field::count, static_cast<double>(values.size()), out);
    Wire::WriteDouble(histogram_field::sum, sum, out);
    Wire::WriteDouble(histogram_field::sum_squares, sum_squares, out);
    Wire::WriteBytes(histogram_field::limits, packed(buckets.limits), out);
    Wire::WriteBytes(histogram_field::counts, packed(buckets.counts), out);
  });
}

std::string host_name() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "host";
  name.resize(name.find('\0'));
  return name;
}

double wall_seconds(const Clock& clock) {
  return static_cast<double>(clock.wall_ns()) / static_cast<double>(nanoseconds_per_second);
}

}  // namespace

EventWriter::EventWriter(const fs::path& folder, const Clock& clock) : clock_(clock) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  const std::string stem = "events.out.tfevents." + std::to_string(clock.wall_ns() / nanoseconds_per_second) +
                           "." + host_name() + "." + std::to_string(::getpid()) + ".";
  for (int number = 0; !file_; ++number) {
    path_ = folder / (stem + std::to_string(number));
    file_ = FileDescriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
    if (!file_ && errno != EEXIST) {
      throw FileError("cannot write event files: " + std::generic_category().message(errno), folder.string(),
                      "check the path and its permissions");
    }
  }
  append_record(message([&](google::protobuf::io::CodedOutputStream* out) {
    Wire::WriteDouble(event_field::wall_time, wall_seconds(clock_), out);
    Wire::WriteString(event_field::file_version, "brain.Event:2", out);
  }));
  flush();
}

EventWriter::~EventWriter() {
  try {
    flush();
  } catch (const std::exception& e) {
    log_error("the last events are lost: {}", e.what());
  }
}

void EventWriter::scalar(std::string_view tag, std::int64_t step, double value) {
  append_summary(step, message([&](google::protobuf::io::CodedOutputStream* out) {
                   Wire::WriteString(value_field::tag, std::string(tag), out);
                   Wire::WriteFloat(value_field::simple_value, static_cast<float>(value), out);
                 }));
}

void EventWriter::histogram(std::string_view tag, std::int64_t step, std::span<const double> values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double v) { return std::isfinite(v); });
  append_summary(step, message([&](google::protobuf::io::CodedOutputStream* out) {
                   Wire::WriteString(value_field::tag, std::string(tag), out);
                   Wire::WriteBytes(value_field::histogram, histogram_message(finite), out);
                 }));
}

void EventWriter::restart(std::int64_t first_step) {
  const std::string start = message([](google::protobuf::io::CodedOutputStream* out) {
    Wire::WriteEnum(session_log_field::status, session_log_field::start, out);
  });
  append_record(message([&](google::protobuf::io::CodedOutputStream* out) {
    Wire::WriteDouble(event_field::wall_time, wall_seconds(clock_), out);
    Wire::WriteInt64(event_field::step, first_step, out);
    Wire::WriteBytes(event_field::session_log, start, out);
  }));
  flush();
}

void EventWriter::append_summary(std::int64_t step, const std::string& value) {
  const std::string summary = message([&](google::protobuf::io::CodedOutputStream* out) {
    Wire::WriteBytes(summary_field::value, value, out);
  });
  append_record(message([&](google::protobuf::io::CodedOutputStream* out) {
    Wire::WriteDouble(event_field::wall_time, wall_seconds(clock_), out);
    Wire::WriteInt64(event_field::step, step, out);
    Wire::WriteBytes(event_field::summary, summary, out);
  }));
  if (pending_.size() >= flush_at_bytes) flush();
}

// TFRecord: length, its masked CRC, the data, its masked CRC.
void EventWriter::append_record(const std::string& event) {
  const std::string length = little_endian(event.size(), 8);
  pending_ += length + little_endian(masked_crc(length), 4) + event + little_endian(masked_crc(event), 4);
}

void EventWriter::flush() {
  const std::string bytes = std::exchange(pending_, {});
  try {
    write_fully(file_.get(), std::as_bytes(std::span(bytes.data(), bytes.size())), path_);
  } catch (const FileError&) {
    // A torn record would hide all later ones from readers.
    if (::ftruncate(file_.get(), whole_bytes_) != 0) file_.close();
    throw;
  }
  whole_bytes_ += static_cast<std::int64_t>(bytes.size());
}

}
