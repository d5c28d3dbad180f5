// Long work that can be interrupted.
// Loops call `checkpoint` with the work they have just done, in rows or products. About every tenth of a second the
// thread then runs its question, a function that may throw to end the work: the bindings check Python's signals,
// threads of a team whether another thread has failed. Without a question a checkpoint costs an addition.
#pragma once

#include "common/standard.hpp"

#include <chrono>

namespace oblique {

// What a thread asks at its checkpoints; it throws to end the work.
using Question = std::function<void()>;

namespace interrupt {

inline constexpr size_t kWork = size_t{1} << 18;  // about a tenth of a millisecond
inline constexpr std::chrono::milliseconds kEvery{100};

struct State {
  const Question* question = nullptr;
  size_t work = 0;
  std::chrono::steady_clock::time_point due{};
};

inline State& state() {
  thread_local State of_thread;
  return of_thread;
}

}  // namespace interrupt

inline void ask() {
  if (const Question* question = interrupt::state().question) (*question)();
}

// Counts completed work, and runs the question when it is due.
inline void checkpoint(size_t work) {
  interrupt::State& state = interrupt::state();
  state.work += work;
  if (state.work < interrupt::kWork) return;
  state.work = 0;
  if (!state.question) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < state.due) return;
  state.due = now + interrupt::kEvery;
  (*state.question)();
}

// Sets the question of this thread during the lifetime of the object.
class Interruptible {
 public:
  explicit Interruptible(Question question) : question_(std::move(question)), before_(interrupt::state()) {
    interrupt::state() = {&question_, 0, std::chrono::steady_clock::now() + interrupt::kEvery};
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible() { interrupt::state() = before_; }

 private:
  const Question question_;
  const interrupt::State before_;
};

}  // namespace oblique
