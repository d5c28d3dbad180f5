// The Python module. Each binding file exposes one folder: argument checks, release of the lock, docstrings.
#include "bindings/bindings.hpp"
#include "common/eigen.hpp"

namespace oblique {
namespace {

void load_lapack() {
  const nb::gil_scoped_acquire lock;  // the first call may come from a thread of a forest
  const nb::object exported = nb::module_::import_("scipy.linalg.cython_lapack").attr("__pyx_capi__");
  const nb::object capsule = exported["dsyev"];
  // The name of a capsule is its C signature, which differs between versions of SciPy.
  void* address = PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr()));
  if (!address) throw nb::python_error();
  lapack().dsyev = reinterpret_cast<dsyev_t>(address);
}

void dsyev_at_first(char* jobz, char* uplo, int* n, double* a, int* lda, double* w, double* work, int* lwork,
                    int* info) {
  load_lapack();
  lapack().dsyev.load()(jobz, uplo, n, a, lda, w, work, lwork, info);
}

}  // namespace
}  // namespace oblique

NB_MODULE(_core, m) {
  using namespace oblique;
  m.doc() = "Compiled core: exact split search, whole-tree growth, traversal and pruning. Releases the GIL.";
  lapack().dsyev = dsyev_at_first;
  for (Bind* bind : {bind_refinement, bind_search, bind_geometry, bind_growth, bind_tree, bind_forest, bind_hierarchy,
                     bind_linear, bind_model_tree, bind_pathfinder, bind_scale, bind_shapley})
    bind(m);
}
