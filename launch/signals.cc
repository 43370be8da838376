#include "launch/signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/process.h"

namespace regraft::launch {

WorkerSignals::WorkerSignals(std::function<void()> on_stop, std::function<void()> on_save)
    : on_stop_(std::move(on_stop)), on_save_(std::move(on_save)) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&wanted, number);
  pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  signals_ = FileDescriptor(signalfd(-1, &wanted, SFD_CLOEXEC));
  wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  if (!signals_ || !wake_) throw ProcessError(std::strerror(errno), "signalfd", "");
  thread_ = std::jthread([this](const std::stop_token& stopped) { watch(stopped); });
}

WorkerSignals::~WorkerSignals() {
  thread_.request_stop();
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof one);
}

void WorkerSignals::watch(const std::stop_token& stopped) {
  while (!stopped.stop_requested()) {
    std::array<pollfd, 2> waiting{{{signals_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    if (poll(waiting.data(), waiting.size(), -1) <= 0 || waiting[0].revents == 0) continue;
    signalfd_siginfo info{};
    if (read(signals_.get(), &info, sizeof info) != sizeof info) continue;
    (info.ssi_signo == SIGUSR1 ? on_save_ : on_stop_)();
  }
}

}  // namespace regraft::launch
