// LAPACK, as SciPy exports it: the addresses are taken from scipy.linalg.cython_lapack when the module is loaded, so
// the library linked is the one the user's SciPy uses and none is bundled.
#pragma once

namespace oblique {

using dsyev_t = void (*)(char* jobz, char* uplo, int* n, double* a, int* lda, double* w, double* work, int* lwork,
                         int* info);

struct Lapack {
  dsyev_t dsyev = nullptr;
};

inline Lapack& lapack() {
  static Lapack table;
  return table;
}

}  // namespace oblique
