#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/file.h"

namespace regraft {

/// Writes one TensorBoard event file (TFRecord framing around tensorflow.Event messages) into a run's folder.
/// A job that is resumed makes a new EventWriter: TensorBoard joins all event files of a folder by step.
/// Events are kept until flush() or 64 KiB; what was flushed survives the process, and a torn last record is
/// ignored by readers. Used by one thread.
class EventWriter {
 public:
  /// Makes the folder where needed, and in it a new file
  /// "events.out.tfevents.<seconds>.<host>.<pid>.<number>". Throws FileError.
  EventWriter(const std::filesystem::path& folder, const Clock& clock);
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  /// Flushes; a failure then is logged, not thrown.
  ~EventWriter();

  /// One point of curve `tag`. NaN and infinities are written as they are. Throws FileError like flush().
  void scalar(std::string_view tag, std::int64_t step, double value);
  /// The distribution of `values` in exponential buckets; values that are not finite are left out.
  void histogram(std::string_view tag, std::int64_t step, std::span<const double> values);
  /// The run goes on from before this step: readers drop what earlier files hold of it and of later ones.
  void restart(std::int64_t first_step);
  /// Hands everything to the system. Throws FileError; these events are then lost, the file stays readable.
  void flush();

  const std::filesystem::path& path() const { return path_; }

 private:
  void append_summary(std::int64_t step, const std::string& value);
  void append_record(const std::string& event);

  const Clock& clock_;
  std::filesystem::path path_;
  FileDescriptor file_;
  std::int64_t whole_bytes_ = 0;  // written as whole records
  std::string pending_;
};

}
