// Macros that compile a function for several instruction sets; the loader chooses the one of the processor.
#pragma once

#include "common/standard.hpp"

#define OBLIQUE_INLINE inline __attribute__((always_inline))
// OBLIQUE_NO_CLONES leaves out the code for newer processors, for the thread sanitizer and for tests of equal bits.
#if !defined(OBLIQUE_NO_CLONES) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define OBLIQUE_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#define OBLIQUE_NARROW __attribute__((target_clones("avx2", "default")))
#define OBLIQUE_WIDE __attribute__((target("arch=x86-64-v4")))
// OBLIQUE_BY_WIDTH(name, parameters, arguments, body) defines a function whose body depends on W, the bytes of a
// register: vectors wider than the registers would become slow code. Each version gives the same bits.
#define OBLIQUE_BY_WIDTH(name, parameters, arguments, ...) \
  OBLIQUE_WIDE static void name##_wide parameters {        \
    constexpr int W = 64;                                  \
    __VA_ARGS__;                                           \
  }                                                        \
  OBLIQUE_NARROW static void name##_narrow parameters {    \
    constexpr int W = 32;                                  \
    __VA_ARGS__;                                           \
  }                                                        \
  void name parameters { kernels.avx512 ? name##_wide arguments : name##_narrow arguments; }
#else
#define OBLIQUE_CLONES
#define OBLIQUE_NARROW
#define OBLIQUE_BY_WIDTH(name, parameters, arguments, ...) \
  void name parameters {                                   \
    constexpr int W = 32;                                  \
    __VA_ARGS__;                                           \
  }
#endif

namespace oblique {

#if defined(OBLIQUE_WIDE)
// The instructions that kernels with a version for each set use: those of the processor, unless `use_kernels` takes
// fewer. The loader chooses the versions of all other functions. Every version gives the same bits.
struct Kernels {
  bool avx2, avx512, bytes;  // bytes : the instructions of AVX-512 for bytes and bits
};
inline Kernels kernels_of_processor() {
  Kernels out{};
  out.avx2 = __builtin_cpu_supports("avx2");
  out.avx512 = out.avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
  out.bytes = out.avx512 && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
              __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("gfni");
  return out;
}
inline Kernels kernels = kernels_of_processor();
#endif

// W bytes of T. Where registers have 16 bytes, the compiler splits 32.
template <class T, int W>
struct PackOf {
  typedef T type __attribute__((vector_size(W)));
};
template <class T, int W>
using Pack = typename PackOf<T, W>::type;

}  // namespace oblique
