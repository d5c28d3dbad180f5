// Independent work on several threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <thread>

#include "common/interrupt.hpp"

namespace oblique {

// Thrown at a checkpoint of a thread after another thread has failed.
struct GivenUp : std::exception {};

// Calls work(i) for i from 0 to n - 1 on several threads, in any order; make() gives each thread its worker. Throws the
// first exception after all threads have stopped, which the others do at their next checkpoint. The calling thread runs
// its question while it waits.
template <class Make>
void on_threads(size_t n, int n_threads, Make make) {
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  std::mutex guard;
  std::condition_variable finished;
  size_t running = 0;
  const auto stop_all = [&]() {
    const std::lock_guard lock(guard);
    if (!failure) failure = std::current_exception();
    failed = true;
    next = n;
  };
  const auto run = [&]() {
    try {
      auto work = make();
      for (size_t i; (i = next.fetch_add(1)) < n;) work(i);
    } catch (...) {
      stop_all();
    }
  };
  const auto help = [&]() {
    {
      const Interruptible watch([&failed]() {
        if (failed) throw GivenUp();
      });
      run();
    }
    const std::lock_guard lock(guard);
    --running;
    finished.notify_one();
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < n_threads && static_cast<size_t>(t) < n; ++t) {
    {
      const std::lock_guard lock(guard);
      ++running;
    }
    try {
      threads.emplace_back(help);
    } catch (...) {  // no further threads available: the existing ones do the work
      const std::lock_guard lock(guard);
      --running;
      break;
    }
  }
  run();
  {
    std::unique_lock lock(guard);
    while (!finished.wait_for(lock, interrupt::kEvery, [&]() { return running == 0; })) {
      if (failed) continue;
      lock.unlock();
      try {
        ask();
      } catch (...) {
        stop_all();
      }
      lock.lock();
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace oblique
