#include "core/base/signal_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "core/base/process.h"

namespace regraft {

SignalWatch::SignalWatch(std::initializer_list<int> signals, std::function<void(int)> on_signal, After after)
    : on_signal_(std::move(on_signal)), after_(after) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : signals) {
    struct sigaction held {};
    if (sigaction(number, nullptr, &held) == 0 && held.sa_handler != SIG_IGN) sigaddset(&wanted, number);
  }
  pthread_sigmask(SIG_BLOCK, &wanted, &before_);
  signals_ = FileDescriptor(signalfd(-1, &wanted, SFD_CLOEXEC));
  wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  if (!signals_ || !wake_) throw ProcessError(std::strerror(errno), "signalfd", "");
  thread_ = std::jthread([this](const std::stop_token& stopped) { watch(stopped); });
}

SignalWatch::~SignalWatch() {
  thread_.request_stop();
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof one);
  thread_.join();
  if (after_ == After::as_before) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void SignalWatch::watch(const std::stop_token& stopped) {
  while (!stopped.stop_requested()) {
    std::array<pollfd, 2> waiting{{{signals_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    if (poll(waiting.data(), waiting.size(), -1) <= 0 || waiting[0].revents == 0) continue;
    signalfd_siginfo info{};
    if (read(signals_.get(), &info, sizeof info) != sizeof info) continue;
    on_signal_(static_cast<int>(info.ssi_signo));
  }
}

void end_process_by(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(signal);
  _exit(128 + signal);  // not reached
}

}
