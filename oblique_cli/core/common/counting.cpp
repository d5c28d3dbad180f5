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

// Row by row, in two tables in turn, so that a run of equal bins does not wait for its previous store.
void count_up_to_plainly(const uint8_t* places, const size_t* first_row, int n_classes, const uint8_t* bin_of,
                         float* counts, size_t stride) {
  for (int k = 0; k < n_classes; ++k) {
    uint32_t rows[2][kPlaceBins + 1] = {}, up_to = 0;
    for (size_t i = first_row[k]; i < first_row[k + 1]; ++i) ++rows[i & 1][bin_of[places[i]]];
    float* out = counts + static_cast<size_t>(k) * stride;
    for (int b = 0; b <= kPlaceBins; ++b) out[b] = static_cast<float>(up_to += rows[0][b] + rows[1][b]);
  }
}

}  // namespace

#if defined(OBLIQUE_WIDE)
#define OBLIQUE_PACKED __attribute__((target("avx2")))

// 32 rows at a time; packing cuts their integers off to bytes.
OBLIQUE_PACKED static void place_rows_packed(const double* x, const double* w, double c, double scale, double from,
                                             uint8_t* places, size_t n) {
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

namespace {

constexpr ptrdiff_t kFew = 64;     // classes with fewer rows are counted row by row
constexpr ptrdiff_t kTurns = 255;  // as many increments as a byte can hold

// 0 in the first half, 255 in the second: read from 32 - b on, the first b bytes are 0.
alignas(64) constexpr std::array<uint8_t, 64> behind = [] {
  std::array<uint8_t, 64> out{};
  for (size_t i = 32; i < 64; ++i) out[i] = 255;
  return out;
}();

OBLIQUE_PACKED OBLIQUE_INLINE __m256i load_32(const uint8_t* bytes) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
}

OBLIQUE_PACKED OBLIQUE_INLINE __m256i behind_first(ptrdiff_t b) { return load_32(behind.data() + 32 - b); }

// For each of 8 bins, the rows in [place, last) with places above its last place.
// last_of : for each bin 32 copies of its last place, as signed numbers of the same order
OBLIQUE_PACKED OBLIQUE_INLINE __m256i count_above(const uint8_t* place, const uint8_t* last, const uint8_t* last_of) {
  const __m256i half = _mm256_set1_epi8(-128), zero = _mm256_setzero_si256();
  __m256i above = zero;
  while (place < last) {
    __m256i ones[8] = {zero, zero, zero, zero, zero, zero, zero, zero};
    for (ptrdiff_t turn = 0; turn < kTurns && place < last; ++turn, place += 32) {
      __m256i here = load_32(place);
      if (last - place < 32) here = _mm256_andnot_si256(behind_first(last - place), here);  // place 0 is above no bin
      here = _mm256_xor_si256(here, half);
#pragma GCC unroll 8
      for (int b = 0; b < 8; ++b)
        ones[b] = _mm256_sub_epi8(ones[b], _mm256_cmpgt_epi8(here, load_32(last_of + 32 * b)));
    }
    // Four sums of 16 bits in each 8 bytes, then the parts of each sum.
    __m256i fours[2];
#pragma GCC unroll 2
    for (int g = 0; g < 2; ++g) {
      const __m256i first = _mm256_sad_epu8(ones[4 * g], zero), second = _mm256_sad_epu8(ones[4 * g + 1], zero),
                    third = _mm256_sad_epu8(ones[4 * g + 2], zero), fourth = _mm256_sad_epu8(ones[4 * g + 3], zero);
      const __m256i low = _mm256_or_si256(first, _mm256_slli_epi64(second, 16)),
                    high = _mm256_or_si256(third, _mm256_slli_epi64(fourth, 16));
      fours[g] = _mm256_or_si256(low, _mm256_slli_epi64(high, 32));
    }
    const __m256i eights =
        _mm256_add_epi16(_mm256_unpacklo_epi64(fours[0], fours[1]), _mm256_unpackhi_epi64(fours[0], fours[1]));
    const __m128i sums = _mm_add_epi16(_mm256_castsi256_si128(eights), _mm256_extracti128_si256(eights, 1));
    above = _mm256_add_epi32(above, _mm256_cvtepu16_epi32(sums));
  }
  return above;
}

// last_of as in `count_above`, for all bins.
OBLIQUE_PACKED OBLIQUE_INLINE void find_last_places(const uint8_t* bin_of, uint8_t* last_of) {
  uint8_t last[kPlaceBins + 1];
  std::fill_n(last, kPlaceBins + 1, uint8_t{255});
  for (int from = 224; from >= 0; from -= 32) {
    // A place is the last one of its bin if the next place is in another bin. The last 31 places are compared one by
    // one, because there is nothing behind them.
    uint32_t ends = 0;
    if (from == 224)
      for (int i = 0; i < 31; ++i) ends |= static_cast<uint32_t>(bin_of[from + i] != bin_of[from + i + 1]) << i;
    else
      ends = ~static_cast<uint32_t>(
          _mm256_movemask_epi8(_mm256_cmpeq_epi8(load_32(bin_of + from), load_32(bin_of + from + 1))));
    for (; ends != 0; ends &= ends - 1) {
      const int place = from + std::countr_zero(ends);
      last[bin_of[place]] = static_cast<uint8_t>(place);
    }
  }
  for (int b = 0; b <= kPlaceBins; ++b) {
    if (b > 0 && b < bin_of[255] && last[b] == 255) last[b] = last[b - 1];  // an empty bin
    _mm256_store_si256(reinterpret_cast<__m256i*>(last_of + 32 * b),
                       _mm256_set1_epi8(static_cast<char>(last[b] ^ 128)));
  }
}

}  // namespace

OBLIQUE_PACKED static void count_up_to_packed(const uint8_t* places, const size_t* first_row, int n_classes,
                                              const uint8_t* bin_of, float* counts, size_t stride) {
  alignas(32) uint8_t last_of[32 * (kPlaceBins + 1)];
  bool is_known = false;
  for (int k = 0; k < n_classes; ++k) {
    const uint8_t *place = places + first_row[k], *last = places + first_row[k + 1];
    float* out = counts + static_cast<size_t>(k) * stride;
    if (last - place <= kFew) {
      __m256i up_to = _mm256_setzero_si256();
      for (; place < last; ++place) up_to = _mm256_sub_epi8(up_to, behind_first(bin_of[*place]));
      const __m128i low = _mm256_castsi256_si128(up_to), high = _mm256_extracti128_si256(up_to, 1);
      _mm256_storeu_ps(out, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(low)));
      _mm256_storeu_ps(out + 8, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(low, 8))));
      _mm256_storeu_ps(out + 16, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(high)));
      _mm256_storeu_ps(out + 24, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(high, 8))));
      continue;
    }
    if (!is_known) find_last_places(bin_of, last_of);
    is_known = true;
    const __m256i all = _mm256_set1_epi32(static_cast<int>(last - place));
    const __m256 most = _mm256_cvtepi32_ps(all);
    int b = 0;
    for (; b < bin_of[255]; b += 8)
      _mm256_storeu_ps(out + b, _mm256_cvtepi32_ps(_mm256_sub_epi32(all, count_above(place, last, last_of + 32 * b))));
    for (; b <= kPlaceBins; b += 8) _mm256_storeu_ps(out + b, most);
    std::fill_n(out, bin_of[0], 0.0f);
  }
}

#define OBLIQUE_SLICED __attribute__((target("arch=x86-64-v4,avx512vbmi,avx512vbmi2,avx512vpopcntdq,gfni")))

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

void place_reflected(const double* x, const double* w, double c, double scale, double shift, uint8_t* places,
                     size_t n) {
#if defined(OBLIQUE_WIDE)
  if (kernels.bytes) return place_rows_sliced(x, w, c, scale, kWhole + shift, places, n);
  if (kernels.avx2) return place_rows_packed(x, w, c, scale, kWhole + shift, places, n);
#endif
  place_rows(x, w, c, scale, kWhole + shift, places, n);
}

void pick_rows(const uint8_t* places, const size_t* first_row, int n_classes, const uint8_t* wanted, uint32_t* rows,
               size_t* picked_up_to) {
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
                 size_t stride) {
#if defined(OBLIQUE_WIDE)
  if (kernels.bytes) return count_up_to_sliced(places, first_row, n_classes, bin_of, counts, stride);
  if (kernels.avx2) return count_up_to_packed(places, first_row, n_classes, bin_of, counts, stride);
#endif
  count_up_to_plainly(places, first_row, n_classes, bin_of, counts, stride);
}

}  // namespace oblique
