#pragma once

#include <nanobind/nanobind.h>

namespace oblique {

// Adds the class Forest to the module.
void bind_forest(nanobind::module_& m);

}  // namespace oblique
