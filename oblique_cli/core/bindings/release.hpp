// Long work without the interpreter lock that still reacts to Ctrl-C. Included by the bindings only.
#pragma once

#include <nanobind/nanobind.h>

#include "common/interrupt.hpp"

namespace nb = nanobind;

namespace oblique {

// Runs the handlers of pending signals (only the main thread has any). Throws what a handler raises.
inline void serve_signals() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Releases the interpreter lock during the lifetime of the object.
class Released {
 private:
  const nb::gil_scoped_release release_;
  const Interruptible interruptible_{serve_signals};
};

}  // namespace oblique
