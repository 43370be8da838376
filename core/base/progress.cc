#include "core/base/progress.h"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cmath>
#include <ostream>

namespace regraft {
namespace {

constexpr double rate_window_s = 30.0;

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) / static_cast<double>(nanoseconds_per_second);
}

std::string format_rate(double rate) {
  return rate >= 100 ? fmt::format("{:.0f}/s", rate) : fmt::format("{:.3g}/s", rate);
}

}  // namespace

bool is_terminal(int fd) {
  return ::isatty(fd) == 1;
}

std::string format_duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  return fmt::format("{}h {:02}m", whole / 3600, whole % 3600 / 60);
}

Progress::Progress(ProgressOptions options, const Clock& clock, std::ostream& out)
    : options_(std::move(options)),
      clock_(clock),
      out_(out),
      start_ns_(clock.steady_ns()),
      printed_ns_(start_ns_),
      samples_{{start_ns_, 0}} {}

void Progress::update(std::uint64_t done, std::string_view note) {
  done_ = done;
  const std::int64_t now = clock_.steady_ns();
  const double interval_s = options_.terminal ? options_.terminal_interval_s : options_.log_interval_s;
  if (seconds_between(printed_ns_, now) < interval_s) return;
  printed_ns_ = now;
  samples_.emplace_back(now, done);
  while (samples_.size() > 2 && seconds_between(samples_[1].first, now) >= rate_window_s)
    samples_.pop_front();
  print(line(note), false);
}

void Progress::finish(std::string_view note) {
  const double elapsed_s = seconds_between(start_ns_, clock_.steady_ns());
  std::string text = fmt::format("{}: {} in {}", options_.label, counted(), format_duration(elapsed_s));
  if (elapsed_s > 0) text += ", " + format_rate(static_cast<double>(done_) / elapsed_s);
  if (!note.empty()) text += fmt::format(", {}", note);
  print(text, true);
}

std::string Progress::counted() const {
  if (options_.total == 0) return fmt::format("{} {}", done_, options_.unit);
  const double share = static_cast<double>(done_) / static_cast<double>(options_.total);
  return fmt::format("{}/{} {} ({:.0f}%)", done_, options_.total, options_.unit, std::floor(100.0 * share));
}

double Progress::recent_rate() const {
  const double elapsed_s = seconds_between(samples_.front().first, samples_.back().first);
  return elapsed_s > 0 ? static_cast<double>(samples_.back().second - samples_.front().second) / elapsed_s
                       : 0.0;
}

std::string Progress::line(std::string_view note) const {
  const double rate = recent_rate();
  std::string text = fmt::format("{}: {}, {}", options_.label, counted(), format_rate(rate));
  if (options_.total > done_ && rate > 0) {
    text += ", ETA " + format_duration(static_cast<double>(options_.total - done_) / rate);
  }
  if (!note.empty()) text += fmt::format(", {}", note);
  return text;
}

void Progress::print(const std::string& text, bool last) {
  constexpr std::string_view rewrite = "\r", clear_rest = "\x1b[K";
  if (options_.terminal) {
    out_ << rewrite << text << clear_rest << (last ? "\n" : "");
  } else {
    out_ << text << '\n';
  }
  out_.flush();
}

}
