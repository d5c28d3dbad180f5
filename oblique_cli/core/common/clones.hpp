// Code that is compiled for several instruction sets; the processor's own is chosen when the library is loaded.
#pragma once

// OBLIQUE_NO_CLONES leaves out the code for newer processors: the thread sanitizer does not bear the choice at load
// time, and a test holds that the choice changes no bit.
#if !defined(OBLIQUE_NO_CLONES) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define OBLIQUE_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
// The same by hand, for code that is written otherwise for registers of 64 bytes. A compiler turns vectors that are
// wider than the registers into slow code, so that one source does not do for both.
#define OBLIQUE_NARROW __attribute__((target_clones("avx2", "default")))
#define OBLIQUE_WIDE __attribute__((target("arch=x86-64-v4")))
#else
#define OBLIQUE_CLONES
#define OBLIQUE_NARROW
#endif
#define OBLIQUE_INLINE inline __attribute__((always_inline))
