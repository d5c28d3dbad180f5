#include "common/counting.hpp"

#include "common/clones.hpp"
#include "common/kernels.hpp"
#if defined(OBLIQUE_WIDE)
#include <immintrin.h>
// GCC 12 reports the undefined operands of its own intrinsics as a mistake.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace oblique {

namespace {

// Adding a number below 2^51 to kWhole leaves the number, rounded to an integer, in the last 32 bits of the sum.
constexpr double kWhole = 6755399441055744.0;  // 1.5 * 2^52

}  // namespace

OBLIQUE_CLONES
static void place_rows(const double* __restrict x, const double* __restrict w, double c, double scale, double from,
                       uint8_t* __restrict places, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const double along = (x[i] - c * w[i]) * scale + from;
    const int whole = static_cast<int>(static_cast<uint32_t>(std::bit_cast<uint64_t>(along)));
    const int above = whole > 0 ? whole : 0;
    places[i] = static_cast<uint8_t>(above < 255 ? above : 255);
  }
}

Moments sample_moments(const double* x, const double* w, double c, size_t step) {
  double z[64], sum[8] = {}, square[8] = {};
  for (size_t i = 0; i < 64; ++i) z[i] = x[i * step] - c * w[i * step];
  for (int i = 0; i < 64; i += 8)
    for (int lane = 0; lane < 8; ++lane) sum[lane] += z[i + lane];
  double mean = 0.0, variance = 0.0;
  for (const double part : sum) mean += part / 64;
  for (int i = 0; i < 64; i += 8)
    for (int lane = 0; lane < 8; ++lane) square[lane] += (z[i + lane] - mean) * (z[i + lane] - mean);
  for (const double part : square) variance += part / 64;
  return {mean, variance};
}

OBLIQUE_CLONES
static void divide_places(const float* __restrict below, float per, uint8_t* __restrict bin_of) {
  for (int place = 0; place < 256; ++place) {
    const float bin = below[place] * per, last = kPlaceBins - 1;
    bin_of[place] = static_cast<uint8_t>(static_cast<int>(bin < last ? bin : last));
  }
}

void choose_bins(const uint8_t* places, size_t step, int sample, uint8_t* bin_of) {
  uint32_t even[256] = {}, odd[256] = {};
  for (int i = 0; i < sample; i += 2) {
    ++even[places[static_cast<size_t>(i) * step]];
    ++odd[places[static_cast<size_t>(i + 1) * step]];
  }
  float below[257];
  cumulate(even, odd, 256, below);
  divide_places(below, static_cast<float>(kPlaceBins) / static_cast<float>(sample), bin_of);
}

namespace {

constexpr int kTogether = 8;    // edges that one pass over the places serves
constexpr size_t kTurns = 255;  // as many increments as a byte can hold
constexpr ptrdiff_t kFew = 64;  // classes with fewer rows are counted row by row

// 64 bytes of 0 before 64 of 255: read from 64 - m on, the first m are 0.
constexpr std::array<uint8_t, 128> behind_last = [] {
  std::array<uint8_t, 128> out{};
  for (size_t i = 64; i < 128; ++i) out[i] = 255;
  return out;
}();

typedef uint8_t Bytes __attribute__((vector_size(32)));
typedef int8_t Signed __attribute__((vector_size(32)));

OBLIQUE_INLINE Bytes load_bytes(const uint8_t* p) {
  Bytes v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

OBLIQUE_INLINE uint32_t sum_of(Bytes bytes) {
  typedef uint16_t Pairs __attribute__((vector_size(32)));
  typedef uint32_t Fours __attribute__((vector_size(32)));
  typedef uint64_t Eights __attribute__((vector_size(32)));
  const Pairs all = reinterpret_cast<Pairs>(bytes);
  const Fours pairs = reinterpret_cast<Fours>((all & 255) + (all >> 8));
  const Eights fours = reinterpret_cast<Eights>((pairs & 0xffff) + (pairs >> 16));
  const Eights eights = (fours & 0xffffffff) + (fours >> 32);
  return static_cast<uint32_t>((eights[0] + eights[1]) + (eights[2] + eights[3]));
}

// Bytes as signed numbers of the same order: processors compare signed bytes by one instruction.
constexpr uint8_t kHalf = 128;
OBLIQUE_INLINE Signed in_order_of(Bytes bytes) { return reinterpret_cast<Signed>(bytes ^ kHalf); }

// For each of kTogether values, how many places in [place, last) are below it.
// beyond : these values, as signed numbers of the same order
OBLIQUE_INLINE void count_narrow(const uint8_t* place, const uint8_t* last, const int8_t* beyond, float* counts) {
  uint32_t sums[kTogether] = {};
  while (place < last) {
    Bytes ones[kTogether] = {};
    size_t turns = 0;
    for (; turns < kTurns && last - place >= 32; ++turns, place += 32) {
      const Signed here = in_order_of(load_bytes(place));
      for (int e = 0; e < kTogether; ++e) ones[e] -= reinterpret_cast<Bytes>(here < beyond[e]);
    }
    if (turns < kTurns && place < last) {
      const Signed here = in_order_of(load_bytes(place) | load_bytes(behind_last.data() + 64 - (last - place)));
      for (int e = 0; e < kTogether; ++e) ones[e] -= reinterpret_cast<Bytes>(here < beyond[e]);
      place = last;
    }
    for (int e = 0; e < kTogether; ++e) sums[e] += sum_of(ones[e]);
  }
  for (int e = 0; e < kTogether; ++e) counts[e] = static_cast<float>(static_cast<int32_t>(sums[e]));
}

// beyond[b] : the first place beyond bins up to b, as in `count_narrow`; rows of place 255 are added at the end
OBLIQUE_INLINE void find_beyond(const uint8_t* bin_of, int8_t* beyond) {
  uint8_t first[kPlaceBins + 1] = {};
  for (int place = 0; place < 255; ++place) first[bin_of[place]] = static_cast<uint8_t>(place + 1);
  for (int b = 1; b <= kPlaceBins; ++b) first[b] = first[b] > first[b - 1] ? first[b] : first[b - 1];
  for (int b = 0; b <= kPlaceBins; ++b) beyond[b] = static_cast<int8_t>(first[b] ^ kHalf);
}

// Counts for all edges among the places in [place, last), row by row; the counts must fit in a byte.
OBLIQUE_INLINE void count_few(const uint8_t* place, const uint8_t* last, const uint8_t* bin_of, float* counts) {
  uint8_t up_to[kPlaceBins + 1] = {};
  for (; place < last; ++place) ++up_to[bin_of[*place]];
  for (int b = 1; b <= kPlaceBins; ++b) up_to[b] = static_cast<uint8_t>(up_to[b] + up_to[b - 1]);
  for (int b = 0; b <= kPlaceBins; ++b) counts[b] = static_cast<float>(up_to[b]);
}

}  // namespace

OBLIQUE_NARROW static void count_up_to_narrow(const uint8_t* places, const size_t* first_row, int n_classes,
                                              const uint8_t* bin_of, float* counts, size_t stride) {
  int8_t beyond[kPlaceBins + 1];
  bool is_found = false;
  for (int k = 0; k < n_classes; ++k) {
    const uint8_t *place = places + first_row[k], *last = places + first_row[k + 1];
    float* out = counts + static_cast<size_t>(k) * stride;
    if (last - place <= kFew) {
      count_few(place, last, bin_of, out);
      continue;
    }
    if (!is_found) find_beyond(bin_of, beyond);
    is_found = true;
    for (int b = 0; b <= kPlaceBins; b += kTogether) count_narrow(place, last, beyond + b, out + b);
    for (int b = bin_of[255]; b < kPlaceBins; ++b) out[b] = static_cast<float>(last - place);
  }
}

#if defined(OBLIQUE_WIDE)
static const bool packs = __builtin_cpu_supports("avx2");

// 32 rows at a time; packing cuts their integers off to bytes.
__attribute__((target("avx2"))) static void place_rows_packed(const double* x, const double* w, double c, double scale,
                                                              double from, uint8_t* places, size_t n) {
  if (n < 32) return place_rows(x, w, c, scale, from, places, n);
  const __m256d by_c = _mm256_set1_pd(c), by_scale = _mm256_set1_pd(scale), start = _mm256_set1_pd(from);
  // Packing works within parts of 16 bytes: of the rows 8 v to 8 v + 7 (v from 0 to 3) the first part holds 0, 1, 4, 5
  // and the second 2, 3, 6, 7.
  const __m256i in_turn =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
  // The last 32 rows may overlap the previous 32; both passes store the same places.
  for (size_t next = 0; next < n; next += 32) {
    const size_t i = next + 32 <= n ? next : n - 32;
    __m256 sums[8];
#pragma GCC unroll 8
    for (size_t v = 0; v < 8; ++v) {
      const __m256d z =
          _mm256_sub_pd(_mm256_loadu_pd(x + i + 4 * v), _mm256_mul_pd(by_c, _mm256_loadu_pd(w + i + 4 * v)));
      sums[v] = _mm256_castpd_ps(_mm256_add_pd(_mm256_mul_pd(z, by_scale), start));
    }
    __m256i whole[4];
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) whole[v] = _mm256_castps_si256(_mm256_shuffle_ps(sums[2 * v], sums[2 * v + 1], 0x88));
    const __m256i bytes =
        _mm256_packus_epi16(_mm256_packs_epi32(whole[0], whole[1]), _mm256_packs_epi32(whole[2], whole[3]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(places + i),
                        _mm256_shuffle_epi8(_mm256_permute4x64_epi64(bytes, 0xd8), in_turn));
  }
}

#define OBLIQUE_SLICED __attribute__((target("arch=x86-64-v4,avx512vbmi,avx512vbmi2,avx512vpopcntdq,gfni")))

static const bool slices = wide_registers && __builtin_cpu_supports("avx512vbmi") &&
                           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq") &&
                           __builtin_cpu_supports("gfni");

namespace {

// Packing works within parts of 16 bytes, so it puts two neighboring rows of each of the 8 vectors of sums into one
// part. in_order[row] is the position of the place of a row after packing: vector 2 a + b, pair r, row d of the pair.
constexpr std::array<uint8_t, 64> in_order = [] {
  std::array<uint8_t, 64> out{};
  for (int r = 0; r < 4; ++r)
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 2; ++b)
        for (int d = 0; d < 2; ++d) out[16 * a + 8 * b + 2 * r + d] = static_cast<uint8_t>(16 * r + 4 * a + 2 * b + d);
  return out;
}();

}  // namespace

OBLIQUE_SLICED static void place_rows_sliced(const double* x, const double* w, double c, double scale, double from,
                                             uint8_t* places, size_t n) {
  const __m512d by_c = _mm512_set1_pd(c), by_scale = _mm512_set1_pd(scale), start = _mm512_set1_pd(from);
  const __m512i order = _mm512_loadu_si512(in_order.data());
  if (n < 64) return place_rows(x, w, c, scale, from, places, n);
  // The last 64 rows may overlap the previous 64; both passes store the same places.
  for (size_t next = 0; next < n; next += 64) {
    const size_t i = next + 64 <= n ? next : n - 64;
    __m512 sums[8];
#pragma GCC unroll 8
    for (size_t v = 0; v < 8; ++v) {
      const __m512d z =
          _mm512_sub_pd(_mm512_loadu_pd(x + i + 8 * v), _mm512_mul_pd(by_c, _mm512_loadu_pd(w + i + 8 * v)));
      sums[v] = _mm512_castpd_ps(_mm512_add_pd(_mm512_mul_pd(z, by_scale), start));
    }
    __m512i whole[4];
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) whole[v] = _mm512_castps_si512(_mm512_shuffle_ps(sums[2 * v], sums[2 * v + 1], 0x88));
    const __m512i bytes =
        _mm512_packus_epi16(_mm512_packs_epi32(whole[0], whole[1]), _mm512_packs_epi32(whole[2], whole[3]));
    _mm512_storeu_si512(places + i, _mm512_permutexvar_epi8(order, bytes));
  }
}

namespace {

// in_planes[8 d + q] = 8 q + d: the position of digit d of the eight rows q after the transposition of each eight.
constexpr std::array<uint8_t, 64> in_planes = [] {
  std::array<uint8_t, 64> out{};
  for (size_t d = 0; d < 8; ++d)
    for (size_t q = 0; q < 8; ++q) out[8 * d + q] = static_cast<uint8_t>(8 * q + d);
  return out;
}();

// Up to 8 chunks of up to 64 rows of one class each.
struct Chunks {
  alignas(64) uint64_t zeros[8][8];  // [chunk][d]: the rows, in any order, whose digit d of the bin is 0
  alignas(64) uint8_t up_to[8][32];  // [chunk][b]: rows in bins up to b

  OBLIQUE_SLICED void set(int chunk, __m512i bins) {
    // A matrix of 8 x 8 bits, whose columns are the digits of eight bytes, times the unit vectors.
    const __m512i units = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201));
    const __m512i turned = _mm512_gf2p8affine_epi64_epi8(units, bins, 0xff);
    _mm512_store_si512(zeros[chunk], _mm512_permutexvar_epi8(_mm512_loadu_si512(in_planes.data()), turned));
  }

  // A row's bin is at most b if, at the first digit in which both differ, the row has 0 and b has 1. So one operation
  // per digit extends the mask of rows up to b from its trailing digits.
  OBLIQUE_SLICED void count() {
    __m512i low[32], all[32];
    __m512i digits[5];  // [d]: digit d of the bins, one chunk of rows in each 64 bits
    turn(digits);
    low[0] = digits[0];
    int n = 1;
#pragma GCC unroll 4
    for (int d = 1; d < 5; ++d, n = 2 * n + 1) {
      const __m512i zero = digits[d];
#pragma GCC unroll 16
      for (int i = 0; i < n; ++i) {
        all[i] = _mm512_and_si512(zero, low[i]);
        all[n + 1 + i] = _mm512_or_si512(zero, low[i]);
      }
      all[n] = zero;
#pragma GCC unroll 32
      for (int i = 0; i < 2 * n + 1; ++i) low[i] = all[i];
    }
    low[31] = _mm512_setzero_si512();
    // [b / 8]: for each chunk the counts of eight bins, each shifted in at the top.
    __m512i eight[4];
#pragma GCC unroll 4
    for (int g = 0; g < 4; ++g) {
      eight[g] = _mm512_setzero_si512();
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) eight[g] = _mm512_shrdi_epi64(eight[g], _mm512_popcnt_epi64(low[8 * g + i]), 8);
    }
    // Gathers the 32 bytes of each chunk from four vectors.
    const __m512i even01 = _mm512_unpacklo_epi64(eight[0], eight[1]), odd01 = _mm512_unpackhi_epi64(eight[0], eight[1]),
                  even23 = _mm512_unpacklo_epi64(eight[2], eight[3]), odd23 = _mm512_unpackhi_epi64(eight[2], eight[3]);
    // even01 has the first 16 bytes of chunks 0, 2, 4 and 6, odd01 of the others.
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                  last = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const __m512i of_02 = _mm512_permutex2var_epi64(even01, first, even23),
                  of_46 = _mm512_permutex2var_epi64(even01, last, even23),
                  of_13 = _mm512_permutex2var_epi64(odd01, first, odd23),
                  of_57 = _mm512_permutex2var_epi64(odd01, last, odd23);
    store(0, 2, of_02);
    store(4, 6, of_46);
    store(1, 3, of_13);
    store(5, 7, of_57);
  }

 private:
  OBLIQUE_SLICED void turn(__m512i* digits) const {
    // [c]: digits 0, 2, 4 and 6, or 1, 3, 5 and 7, of chunks 2 c and 2 c + 1.
    __m512i even[4], odd[4];
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const __m512i first = _mm512_load_si512(zeros[2 * c]), second = _mm512_load_si512(zeros[2 * c + 1]);
      even[c] = _mm512_unpacklo_epi64(first, second);
      odd[c] = _mm512_unpackhi_epi64(first, second);
    }
    const __m512i even_04 = _mm512_shuffle_i64x2(even[0], even[1], 0x88),
                  even_04b = _mm512_shuffle_i64x2(even[2], even[3], 0x88),
                  even_26 = _mm512_shuffle_i64x2(even[0], even[1], 0xdd),
                  even_26b = _mm512_shuffle_i64x2(even[2], even[3], 0xdd),
                  odd_15 = _mm512_shuffle_i64x2(odd[0], odd[1], 0x88),
                  odd_15b = _mm512_shuffle_i64x2(odd[2], odd[3], 0x88),
                  odd_37 = _mm512_shuffle_i64x2(odd[0], odd[1], 0xdd),
                  odd_37b = _mm512_shuffle_i64x2(odd[2], odd[3], 0xdd);
    digits[0] = _mm512_shuffle_i64x2(even_04, even_04b, 0x88);
    digits[1] = _mm512_shuffle_i64x2(odd_15, odd_15b, 0x88);
    digits[2] = _mm512_shuffle_i64x2(even_26, even_26b, 0x88);
    digits[3] = _mm512_shuffle_i64x2(odd_37, odd_37b, 0x88);
    digits[4] = _mm512_shuffle_i64x2(even_04, even_04b, 0xdd);
  }

  OBLIQUE_SLICED void store(int first, int second, __m512i of_two) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(up_to[first]), _mm512_castsi512_si256(of_two));
    _mm256_store_si256(reinterpret_cast<__m256i*>(up_to[second]), _mm512_extracti64x4_epi64(of_two, 1));
  }
};

}  // namespace

// Transposes 64 bytes into five words, one for each binary digit of the bins; few operations then compare 512 rows.
OBLIQUE_SLICED static void count_up_to_sliced(const uint8_t* places, const size_t* first_row, int n_classes,
                                              const uint8_t* bin_of, float* counts, size_t stride) {
  const __m512i bins0 = _mm512_loadu_si512(bin_of), bins1 = _mm512_loadu_si512(bin_of + 64),
                bins2 = _mm512_loadu_si512(bin_of + 128), bins3 = _mm512_loadu_si512(bin_of + 192);
  Chunks chunks = {};
  const uint8_t* place = places;
  int k = 0, counted = 0;                 // classes begun and classes completed
  size_t begun = 0, done = 0;             // rows of these classes
  __m512i sums = _mm512_setzero_si512();  // of the counted class, up to 2^15 rows, then in `counts`
  bool first = true;
  while (counted < n_classes) {
    int n = 0;
    for (; n < 8 && k < n_classes; ++n) {
      const size_t rest = first_row[k + 1] - first_row[k] - begun;
      const __m512i here = _mm512_loadu_si512(place + first_row[k] + begun);
      const __m512i bin =
          _mm512_mask_blend_epi8(_mm512_movepi8_mask(here), _mm512_permutex2var_epi8(bins0, here, bins1),
                                 _mm512_permutex2var_epi8(bins2, here, bins3));
      // Padding beyond the last row goes to bin 31.
      const uint64_t mask = rest >= 64 ? ~uint64_t{0} : (uint64_t{1} << rest) - 1;
      chunks.set(n, _mm512_mask_blend_epi8(mask, _mm512_set1_epi8(31), bin));
      begun += 64;
      if (rest <= 64) {
        ++k;
        begun = 0;
      }
    }
    chunks.count();
    for (int c = 0; c < n; ++c) {
      sums = _mm512_add_epi16(
          sums, _mm512_cvtepu8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(chunks.up_to[c]))));
      done += 64;
      const bool ends = done >= first_row[counted + 1] - first_row[counted];
      if (!ends && done % 32768 != 0) continue;
      float* out = counts + static_cast<size_t>(counted) * stride;
      __m512 low = _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(sums))),
             high = _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(sums, 1)));
      if (!first) {
        low = _mm512_add_ps(low, _mm512_loadu_ps(out));
        high = _mm512_add_ps(high, _mm512_loadu_ps(out + 16));
      }
      _mm512_storeu_ps(out, low);
      _mm512_storeu_ps(out + 16, high);
      sums = _mm512_setzero_si512();
      first = ends;
      if (ends) {
        ++counted;
        done = 0;
      }
    }
  }
}
#endif

#if defined(OBLIQUE_WIDE)
OBLIQUE_SLICED static void pick_rows_sliced(const uint8_t* places, const size_t* first_row, int n_classes,
                                            const uint8_t* wanted, uint32_t* rows, size_t* picked_up_to) {
  const __m512i wanted0 = _mm512_loadu_si512(wanted), wanted1 = _mm512_loadu_si512(wanted + 64),
                wanted2 = _mm512_loadu_si512(wanted + 128), wanted3 = _mm512_loadu_si512(wanted + 192);
  size_t picked = 0;
  int k = 0;
  for (size_t i = 0; i < first_row[n_classes]; i += 64) {
    const __m512i here = _mm512_loadu_si512(places + i);
    const __m512i want =
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(here), _mm512_permutex2var_epi8(wanted0, here, wanted1),
                               _mm512_permutex2var_epi8(wanted2, here, wanted3));
    uint64_t rest = _mm512_test_epi8_mask(want, want);
    for (; rest != 0; rest &= rest - 1) {
      const size_t row = i + static_cast<size_t>(std::countr_zero(rest));
      if (row >= first_row[n_classes]) break;
      while (row >= first_row[k + 1]) picked_up_to[k++] = picked;
      rows[picked++] = static_cast<uint32_t>(row);
    }
  }
  while (k < n_classes) picked_up_to[k++] = picked;
}
#endif

void place_reflected(const double* x, const double* w, double c, double scale, double shift, uint8_t* places, size_t n,
                     [[maybe_unused]] bool plainly) {
#if defined(OBLIQUE_WIDE)
  if (slices && !plainly) return place_rows_sliced(x, w, c, scale, kWhole + shift, places, n);
  if (packs && !plainly) return place_rows_packed(x, w, c, scale, kWhole + shift, places, n);
#endif
  place_rows(x, w, c, scale, kWhole + shift, places, n);
}

void pick_rows(const uint8_t* places, const size_t* first_row, int n_classes, const uint8_t* wanted, uint32_t* rows,
               size_t* picked_up_to, [[maybe_unused]] bool plainly) {
#if defined(OBLIQUE_WIDE)
  if (slices && !plainly) return pick_rows_sliced(places, first_row, n_classes, wanted, rows, picked_up_to);
#endif
  size_t picked = 0;
  for (int k = 0; k < n_classes; ++k) {
    for (size_t i = first_row[k]; i < first_row[k + 1]; ++i)
      if (wanted[places[i]]) rows[picked++] = static_cast<uint32_t>(i);
    picked_up_to[k] = picked;
  }
}

OBLIQUE_CLONES
double least_above(const uint8_t* __restrict places, uint8_t place, const double* __restrict x,
                   const double* __restrict w, double c, size_t n) {
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < n; ++i) {
    const double value = places[i] > place ? x[i] - c * w[i] : std::numeric_limits<double>::infinity();
    least = value < least ? value : least;
  }
  return least;
}

void count_up_to(const uint8_t* places, const size_t* first_row, int n_classes, const uint8_t* bin_of, float* counts,
                 size_t stride, [[maybe_unused]] bool plainly) {
#if defined(OBLIQUE_WIDE)
  if (slices && !plainly) return count_up_to_sliced(places, first_row, n_classes, bin_of, counts, stride);
#endif
  count_up_to_narrow(places, first_row, n_classes, bin_of, counts, stride);
}

}  // namespace oblique
