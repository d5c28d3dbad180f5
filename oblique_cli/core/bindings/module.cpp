// The Python module. Each binding file exposes one folder of the core: argument checks, release of the lock,
// docstrings.
#include "bindings/bindings.hpp"
#include "common/eigen.hpp"

namespace oblique {
namespace {

void load_lapack() {
  const nb::gil_scoped_acquire lock;  // the first call may come from a thread of a forest
  const nb::object exported = nb::module_::import_("scipy.linalg.cython_lapack").attr("__pyx_capi__");
  const nb::object capsule = exported["dsyev"];
  // The name of a capsule is its C signature. Reading the name from the capsule accepts the signature of every SciPy
  // version.
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
  bind_refinement(m);
  bind_search(m);
  bind_geometry(m);
  bind_growth(m);
  bind_tree(m);
  bind_forest(m);
  bind_hierarchy(m);
  bind_linear(m);
  bind_model_tree(m);
  bind_pathfinder(m);
  bind_scale(m);
  bind_shapley(m);
}
