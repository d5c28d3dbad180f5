// Work on several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace oblique {

// Calls work(i) for i from 0 to n - 1 on several threads, in no particular order; make() gives each thread its worker.
// The first exception is thrown once all have stopped.
template <class Make>
void on_threads(std::size_t n, int n_threads, Make make) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex guard;
  const auto run = [&]() {
    try {
      auto work = make();
      for (std::size_t i; (i = next.fetch_add(1)) < n;) work(i);
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
      next = n;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < n_threads && static_cast<std::size_t>(t) < n; ++t) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace oblique
