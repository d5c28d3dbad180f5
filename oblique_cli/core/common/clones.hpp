// Macros that compile a function for several instruction sets; the loader chooses the one of the processor.
#pragma once

// OBLIQUE_NO_CLONES leaves out the code for newer processors: the thread sanitizer fails with the choice at load time,
// and a test asserts that the choice changes no bit.
#if !defined(OBLIQUE_NO_CLONES) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define OBLIQUE_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
// Two versions by hand, for code that has a different form for registers of 64 bytes. A compiler turns vectors wider
// than the registers into slow code, so one source cannot serve both.
#define OBLIQUE_NARROW __attribute__((target_clones("avx2", "default")))
#define OBLIQUE_WIDE __attribute__((target("arch=x86-64-v4")))
#else
#define OBLIQUE_CLONES
#define OBLIQUE_NARROW
#endif
#define OBLIQUE_INLINE inline __attribute__((always_inline))

// OBLIQUE_BY_WIDTH(f, ...) calls f_wide or f_narrow. Each is written for its registers, with the same bits.
#if defined(OBLIQUE_WIDE)
namespace oblique {
inline const bool wide_registers = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                   __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                                   __builtin_cpu_supports("avx512vl");
}
#define OBLIQUE_BY_WIDTH(function, ...) wide_registers ? function##_wide(__VA_ARGS__) : function##_narrow(__VA_ARGS__)
#else
#define OBLIQUE_BY_WIDTH(function, ...) function##_narrow(__VA_ARGS__)
#endif
