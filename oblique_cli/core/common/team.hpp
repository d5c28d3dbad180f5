// Threads that work on one task together, nested parts included.
#pragma once

#include <chrono>
#include <condition_variable>
#include <thread>

#include "common/interrupt.hpp"

namespace oblique {

// Thrown at a checkpoint of a thread after another thread has failed.
struct GivenUp : std::exception {};

// While `run` executes its work, `share` divides parts of it among idle threads, which must not change any result.
class Team {
 public:
  explicit Team(int n_threads) : size_(std::max(n_threads, 1)) {}
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return size_; }
  bool has_idle() const { return idle_ > 0; }

  // Calls work() on the calling thread; the others wait for shared parts. Throws the first exception of any thread,
  // after all threads have stopped, which the others do at their next checkpoint.
  template <class Work>
  void run(const Work& work) {
    if (size_ == 1) return work();
    const Question* before = interrupt::state().question;
    const auto give_up = [this]() {
      if (failed_) throw GivenUp();
    };
    std::vector<std::thread> threads;
    try {
      for (int t = 1; t < size_; ++t)
        threads.emplace_back([&]() {
          const Interruptible watch(give_up);
          serve();
        });
    } catch (...) {  // no further threads are available: the present ones do the work
    }
    {
      const Interruptible watch([&]() {
        give_up();
        if (before) (*before)();
      });
      part([&work](size_t) { work(); }, 0);
    }
    {
      const std::lock_guard lock(guard_);
      finished_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

  // What a thread does when its parts are done and other threads still work on theirs: wait, or help with any shared
  // part. A helping thread may re-enter the same code, so it must hold no buffers then.
  enum class Meanwhile { kWait, kHelp };

  // Calls work(i) for i from 0 to n - 1 on the idle threads and the calling thread.
  template <class Work>
  void share(size_t n, Meanwhile meanwhile, const Work& work) {
    if (size_ == 1 || n < 2) {
      for (size_t i = 0; i < n; ++i) work(i);
      return;
    }
    Job job(n, work);
    {
      const std::lock_guard lock(guard_);
      jobs_.push_back(&job);
      changed_.notify_all();
    }
    work_on(job);
    std::unique_lock lock(guard_);
    std::erase(jobs_, &job);
    while (job.active > 0) {
      if (meanwhile == Meanwhile::kWait)
        wait(lock);
      else if (!help(lock))
        idle(lock);
    }
    if (failed_) throw GivenUp();
  }

  // As above, with a buffer for each participating thread: work(i, buffer), buffer = make().
  template <class Make, class Work>
  void share_with(size_t n, Meanwhile meanwhile, const Make& make, const Work& work) {
    if (size_ == 1 || n < 2) {
      auto buffer = make();
      for (size_t i = 0; i < n; ++i) work(i, buffer);
      return;
    }
    std::atomic<size_t> next{0};
    share(std::min(n, static_cast<size_t>(size_)), meanwhile, [&](size_t) {
      size_t i = next.fetch_add(1);
      if (i >= n) return;
      auto buffer = make();
      for (; i < n; i = next.fetch_add(1)) work(i, buffer);
    });
  }

 private:
  struct Job {
    Job(size_t count, std::function<void(size_t)> what) : n(count), work(std::move(what)) {}
    const size_t n;
    const std::function<void(size_t)> work;
    std::atomic<size_t> next{0};
    size_t active = 0;  // threads that help
  };

  template <class Work>
  void part(const Work& work, size_t i) {
    try {
      work(i);
    } catch (...) {
      const std::lock_guard lock(guard_);
      if (!failure_) failure_ = std::current_exception();
      failed_ = true;
      changed_.notify_all();
    }
  }

  void work_on(Job& job) {
    for (size_t i; !failed_ && (i = job.next.fetch_add(1)) < job.n;) part(job.work, i);
  }

  // Works on the part that was shared last; false if there is none.
  bool help(std::unique_lock<std::mutex>& lock) {
    for (size_t j = jobs_.size(); j-- > 0;) {
      Job& job = *jobs_[j];
      if (failed_ || job.next >= job.n) continue;
      ++job.active;
      lock.unlock();
      work_on(job);
      lock.lock();
      --job.active;
      changed_.notify_all();
      return true;
    }
    return false;
  }

  void serve() {
    std::unique_lock lock(guard_);
    while (!finished_)
      if (!help(lock)) idle(lock);
  }

  void idle(std::unique_lock<std::mutex>& lock) {
    ++idle_;
    wait(lock);
    --idle_;
  }

  // Waits for a change, and runs the thread's question at intervals.
  void wait(std::unique_lock<std::mutex>& lock) {
    if (changed_.wait_for(lock, interrupt::kEvery) == std::cv_status::no_timeout || failed_) return;
    lock.unlock();
    part([](size_t) { ask(); }, 0);
    lock.lock();
  }

  const int size_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::vector<Job*> jobs_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
  std::atomic<int> idle_{0};
  bool finished_ = false;
};

// Calls work(i) for i from 0 to n - 1 on several threads, in any order; make() gives each thread its worker. Throws as
// Team::run does.
template <class Make>
void on_threads(size_t n, int n_threads, const Make& make) {
  Team team(static_cast<int>(std::min(n, static_cast<size_t>(std::max(n_threads, 1)))));
  team.run([&]() { team.share_with(n, Team::Meanwhile::kWait, make, [](size_t i, auto& work) { work(i); }); });
}

}  // namespace oblique
