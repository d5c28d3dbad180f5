// LAPACK as SciPy exports it: the addresses come from scipy.linalg.cython_lapack, so the core uses the library of the
// user's SciPy and bundles none. The first call fetches them: importing SciPy takes longer than many predictions, which
// need no eigenvectors.
#pragma once

#include <atomic>

namespace oblique {

using dsyev_t = void (*)(char* jobz, char* uplo, int* n, double* a, int* lda, double* w, double* work, int* lwork,
                         int* info);

// Until the first call, `dsyev` is a function of the bindings that looks up the address, stores it here and calls it.
struct Lapack {
  std::atomic<dsyev_t> dsyev{nullptr};
};

inline Lapack& lapack() {
  static Lapack table;
  return table;
}

}  // namespace oblique
