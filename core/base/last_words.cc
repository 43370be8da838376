#include "core/base/last_words.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace regraft {
namespace {

// A handler may call little and allocate nothing: what it needs lies ready, for each signal.
std::array<std::array<char, 256>, 32> words_of;
std::array<char, 16384> stack;  // its own, where the process has used up its stack

void speak(int signal) {
  const auto& words = words_of[static_cast<std::size_t>(signal)];
  [[maybe_unused]] const ssize_t written = ::write(
      STDERR_FILENO, words.data(), static_cast<std::size_t>(std::ranges::find(words, '\0') - words.begin()));
  ::raise(signal);  // its default action is back
}

}  // namespace

void set_last_words(int signal, const std::string& words) {
  struct sigaction held {};
  if (::sigaction(signal, nullptr, &held) != 0 || held.sa_handler != SIG_DFL) return;
  auto& kept = words_of.at(static_cast<std::size_t>(signal));
  kept.fill('\0');
  const std::size_t size = std::min(words.size(), kept.size() - 2);
  std::copy_n(words.begin(), size, kept.begin());
  kept[size] = '\n';
  const stack_t own{stack.data(), 0, stack.size()};
  ::sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_handler = speak;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
  ::sigaction(signal, &action, nullptr);
}

}
