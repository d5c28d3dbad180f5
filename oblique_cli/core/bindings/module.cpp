// The Python module. Each binding file exposes one folder: argument checks, release of the lock, docstrings.
#include "bindings/bindings.hpp"
#include "common/kernels.hpp"

NB_MODULE(_core, m) {
  using namespace oblique;
  if (const char* name = std::getenv("OBLIQUE_KERNELS"); name && *name) use_kernels(name);
  m.doc() = "Compiled core: exact split search, whole-tree growth, traversal and pruning. Releases the GIL.";
  for (Bind* bind : {bind_refinement, bind_search, bind_geometry, bind_growth, bind_tree, bind_forest, bind_hierarchy,
                     bind_linear, bind_model_tree, bind_pathfinder, bind_scale, bind_shapley, bind_text})
    bind(m);
}
