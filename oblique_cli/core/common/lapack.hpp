// LAPACK, as SciPy exports it: the addresses are taken from scipy.linalg.cython_lapack, so the library linked is the
// one the user's SciPy uses and none is bundled. They are taken at the first call: importing SciPy takes longer than
// many predictions, which need no eigenvectors.
#pragma once

#include <atomic>

namespace oblique {

using dsyev_t = void (*)(char* jobz, char* uplo, int* n, double* a, int* lda, double* w, double* work, int* lwork,
                         int* info);

// Until the first call, `dsyev` is a function of the bindings that finds the address, keeps it here and goes on there.
struct Lapack {
  std::atomic<dsyev_t> dsyev{nullptr};
};

inline Lapack& lapack() {
  static Lapack table;
  return table;
}

}  // namespace oblique
