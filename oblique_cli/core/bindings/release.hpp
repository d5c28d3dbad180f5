// Work without the interpreter lock that still answers to Ctrl-C. Included by the bindings only.
#pragma once

#include <nanobind/nanobind.h>

#include "common/interrupt.hpp"

namespace nb = nanobind;

namespace oblique {

// Runs the handlers of signals that have come; only the main thread has any. Throws what a handler raises.
inline void serve_signals() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Lets go of the interpreter lock for as long as it lives.
class Released {
 private:
  const nb::gil_scoped_release release_;
  const Interruptible interruptible_{serve_signals};
};

}  // namespace oblique
