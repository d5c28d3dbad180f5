// The functions that fill the Python module, one for each binding file.
#pragma once

#include <nanobind/nanobind.h>

namespace oblique {

void bind_refinement(nanobind::module_& m);
void bind_search(nanobind::module_& m);
void bind_geometry(nanobind::module_& m);
void bind_growth(nanobind::module_& m);
void bind_tree(nanobind::module_& m);
void bind_forest(nanobind::module_& m);
void bind_hierarchy(nanobind::module_& m);
void bind_linear(nanobind::module_& m);
void bind_model_tree(nanobind::module_& m);
void bind_pathfinder(nanobind::module_& m);
void bind_scale(nanobind::module_& m);
void bind_shapley(nanobind::module_& m);

}  // namespace oblique
