#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <stdexcept>

#include "core/base/file.h"
#include "core/wire/wire_error.h"

namespace regraft::wire::testing_support {

/// A forked child that waits for go(), runs its work and exits; killed at the end if it still lives. Fork it
/// before this process has any thread.
class Child {
 public:
  explicit Child(const std::function<void()>& work) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    start_ = FileDescriptor(ends[1]);
    const FileDescriptor wait(ends[0]);
    pid_ = fork();
    if (pid_ != 0) return;
    start_.close();
    char go = 0;
    if (read(wait.get(), &go, 1) == 1) run(work);
    _exit(0);
  }
  ~Child() { kill_now(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void go() { ASSERT_EQ(write(start_.get(), "g", 1), 1); }
  pid_t pid() const { return pid_; }
  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    join();
  }
  int join() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  static void run(const std::function<void()>& work) {
    try {
      work();
    } catch (const WireError& error) {
      if (error.fault() != WireFault::kClosed) _exit(1);  // else the run has ended, which is as it should be
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      _exit(1);
    }
  }

  FileDescriptor start_;
  pid_t pid_ = -1;
};

}
