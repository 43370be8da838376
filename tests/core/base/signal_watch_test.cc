#include "core/base/signal_watch.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <future>
#include <thread>

namespace regraft {
namespace {

bool blocked(int signal) {
  sigset_t held;
  pthread_sigmask(SIG_SETMASK, nullptr, &held);
  return sigismember(&held, signal) == 1;
}

TEST(SignalWatch, CallsBackOnItsOwnThread) {
  std::promise<int> taken;
  std::thread::id where;
  const SignalWatch watch(
      {SIGUSR1},
      [&](int signal) {
        where = std::this_thread::get_id();
        taken.set_value(signal);
      },
      SignalWatch::After::as_before);
  kill(getpid(), SIGUSR1);
  EXPECT_EQ(taken.get_future().get(), SIGUSR1);
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(SignalWatch, LeavesSignalsAsItWasAsked) {
  {
    const SignalWatch watch(
        {SIGUSR2}, [](int) {}, SignalWatch::After::as_before);
  }
  EXPECT_FALSE(blocked(SIGUSR2));
  {
    const SignalWatch watch(
        {SIGUSR2}, [](int) {}, SignalWatch::After::blocked);
  }
  EXPECT_TRUE(blocked(SIGUSR2));
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

TEST(SignalWatch, WhatTheProcessIgnoresStaysIgnored) {
  signal(SIGHUP, SIG_IGN);
  {
    const SignalWatch watch(
        {SIGHUP}, [](int) { ADD_FAILURE() << "taken"; }, SignalWatch::After::as_before);
    EXPECT_FALSE(blocked(SIGHUP));
    kill(getpid(), SIGHUP);
  }
  signal(SIGHUP, SIG_DFL);
}

}  // namespace
}
