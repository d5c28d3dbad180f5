// The Python face of growth from blocks of rows: what each pass asks of a block, and the search that puts answers
// together. oblique_cli/scale drives the passes; nothing else uses this.
#include "bindings/bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/release.hpp"
#include "common/eigen.hpp"
#include "heuristic/bisectors.hpp"
#include "heuristic/class_moments.hpp"
#include "rows/block.hpp"
#include "rows/exact_moments.hpp"
#include "split/slot_search.hpp"
#include "split/spaces.hpp"
#include "split/spread.hpp"
#include "tree/levels.hpp"

namespace oblique {
namespace {

template <class T>
using In = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

void require_size(bool holds) { require(holds, "an array has the wrong size"); }

// A block with the levels it refers to.
class HeldBlock {
 public:
  HeldBlock(const In<double>& columns, const Codes& codes, const Codes& slots, const std::optional<Doubles>& weights,
            std::size_t n_slots, std::size_t n_classes, const std::optional<Codes>& levels,
            const std::optional<In<double>>& scores, const std::optional<InOut<double>>& room)
      : room_(room), p(columns.shape(0)), n_slots_(n_slots), n_classes_(n_classes), levels_(levels_of(levels, p)) {
    const std::size_t n = codes.shape(0);
    require_size(columns.ndim() == 2 && columns.shape(1) == n && slots.shape(0) == n && n < (std::size_t{1} << 32));
    require_size(!weights || weights->shape(0) == n);
    require_size(!scores || scores->size() == n_slots * levels_.width);
    require_size(!room || room->size() >= n * p);
    const Released released;  // other threads have chunks of their own to prepare
    check_codes(codes, n_classes);
    for (std::size_t i = 0; i < n; ++i)
      require(slots.data()[i] < static_cast<std::int64_t>(n_slots), "slots must be below n_slots");
    block_ = std::make_unique<Block>(
        RawRows{columns.data(), codes.data(), slots.data(), weights ? weights->data() : nullptr, n, p}, n_slots,
        n_classes, levels_, scores ? scores->data() : nullptr, room ? room->data() : nullptr);
    n_raw_ = n;
  }

  std::size_t n_rows() const { return block_->n_rows(); }

  void add_boxes(InOut<std::int64_t> rows, InOut<double> weight, InOut<double> heaviest, InOut<double> low,
                 InOut<double> high, InOut<double> tables) {
    require_size(rows.size() == groups() && weight.size() == groups() && heaviest.size() == groups());
    require_size(low.size() == groups() * p && high.size() == groups() * p);
    require_size(tables.size() == groups() * (levels_.width + levels_.features.size()));
    const Released released;
    block_->add_boxes({rows.data(), weight.data(), heaviest.data(), low.data(), high.data(), tables.data()});
  }

  void add_moments(In<double> center, In<double> inverse, In<double> unit, InOut<std::int64_t> high,
                   InOut<std::int64_t> low) {
    require_size(center.size() == groups() * p && inverse.size() == groups() * p && unit.size() == groups());
    require_size(high.size() == groups() * packed_size(p) && low.size() == high.size());
    const Released released;
    block_->add_moments(center.data(), inverse.data(), unit.data(), high.data(), low.data());
  }

  void raise_squares(In<double> mean, In<double> inverse, In<double> factor, InOut<double> largest) {
    require_size(mean.size() == groups() * p && inverse.size() == groups() * p && factor.size() == n_slots_);
    require_size(largest.size() == groups());
    const Released released;
    block_->raise_squares(mean.data(), inverse.data(), factor.data(), largest.data());
  }

  void add_unit_moments(In<double> mean, In<double> inverse, In<double> factor, In<double> least, In<double> unit,
                        InOut<std::int64_t> high, InOut<std::int64_t> low) {
    require_size(mean.size() == groups() * p && inverse.size() == groups() * p && factor.size() == n_slots_);
    require_size(least.size() == groups() && unit.size() == groups());
    require_size(high.size() == groups() * packed_size(p) && low.size() == high.size());
    const Released released;
    block_->add_unit_moments(mean.data(), inverse.data(), factor.data(), least.data(), unit.data(), high.data(),
                             low.data());
  }

  void add_left(In<double> normals, In<double> thresholds, InOut<double> left) {
    require_size(thresholds.ndim() == 2 && thresholds.shape(0) == n_slots_);
    require_size(normals.size() == thresholds.size() * p && left.size() == thresholds.size() * n_classes_);
    const Released released;
    block_->add_left(normals.data(), thresholds.data(), thresholds.shape(1), left.data());
  }

  void add_histograms(In<std::int64_t> first_space, In<double> u, In<std::int64_t> place, In<double> low,
                      In<double> scale, int n_bins, std::optional<InOut<std::uint32_t>> counts,
                      std::optional<InOut<double>> weighted, InOut<double> least, InOut<double> largest) {
    const SlotSpaces spaces = checked(first_space, u, place, low.size());
    require_size(n_bins >= 2 && n_bins <= 256 && counts.has_value() != weighted.has_value());
    const std::size_t cells = low.size() * n_classes_ * static_cast<std::size_t>(n_bins);
    require_size((counts ? counts->size() : weighted->size()) == cells && scale.size() == low.size());
    require_size(least.size() == low.size() && largest.size() == low.size());
    const Released released;
    block_->add_histograms(spaces, low.data(), scale.data(), n_bins, counts ? counts->data() : nullptr,
                           weighted ? weighted->data() : nullptr, least.data(), largest.data());
  }

  nb::tuple look(In<std::int64_t> first_space, In<double> u, In<std::int64_t> place, In<double> low, In<double> scale,
                 int n_bins, In<std::int64_t> direction, In<std::int32_t> bin, In<std::int32_t> after, In<double> from,
                 In<double> to, In<double> origin, In<double> step, In<std::int64_t> first_part,
                 std::optional<InOut<std::uint32_t>> counts, std::optional<InOut<double>> weighted,
                 InOut<double> part_low, InOut<double> part_high, InOut<double> smallest) {
    const SlotSpaces spaces = checked(first_space, u, place, low.size());
    const std::size_t n = direction.size();
    require_size(bin.size() == n && after.size() == n && smallest.size() == n && scale.size() == low.size());
    require_size(from.size() == n && to.size() == n && origin.size() == n && step.size() == n);
    require_size(first_part.size() == n + 1 && first_part.data()[0] == 0 && n_bins >= 2 && n_bins <= 256);
    for (std::size_t e = 0; e < n; ++e) {
      require_size(bin.data()[e] >= 0 && bin.data()[e] < n_bins && after.data()[e] < n_bins);
      require_size(first_part.data()[e] <= first_part.data()[e + 1]);
      require(direction.data()[e] >= 0 && (e == 0 || direction.data()[e - 1] <= direction.data()[e]),
              "directions of cells must rise");
    }
    const std::size_t parts = static_cast<std::size_t>(first_part.data()[n]);
    require_size(counts.has_value() != weighted.has_value() && part_low.size() == parts && part_high.size() == parts);
    require_size((counts ? counts->size() : weighted->size()) == parts * n_classes_);
    GatheredRows found;
    {
      const Released released;
      found = block_->look(
          spaces, low.data(), scale.data(), n_bins,
          {direction.data(), bin.data(), after.data(), from.data(), to.data(), origin.data(), step.data(),
           first_part.data(), n},
          {counts ? counts->data() : nullptr, weighted ? weighted->data() : nullptr, part_low.data(), part_high.data()},
          smallest.data());
    }
    const std::size_t size = found.z.size();
    return nb::make_tuple(array(std::move(found.entry), {size}), array(std::move(found.code), {size}),
                          array(std::move(found.z), {size}), array(std::move(found.weight), {size}));
  }

  void route(In<double> normals, In<double> thresholds, In<std::int32_t> left_slot, In<std::int32_t> right_slot,
             InOut<std::int32_t> next, InOut<double> below, InOut<double> above) {
    require_size(normals.size() == n_slots_ * p && thresholds.size() == n_slots_ && next.size() == n_raw_);
    require_size(left_slot.size() == n_slots_ && right_slot.size() == n_slots_);
    require_size(below.size() == n_slots_ && above.size() == n_slots_);
    const Released released;
    block_->route(normals.data(), thresholds.data(), left_slot.data(), right_slot.data(), next.data(), below.data(),
                  above.data());
  }

 private:
  std::size_t groups() const { return n_slots_ * n_classes_; }
  SlotSpaces checked(const In<std::int64_t>& first_space, const In<double>& u, const In<std::int64_t>& place,
                     std::size_t directions) const {
    require_size(first_space.size() == n_slots_ + 1 && place.size() == u.size());
    for (std::size_t s = 0; s < n_slots_; ++s) require_size(first_space.data()[s] <= first_space.data()[s + 1]);
    require_size(first_space.data()[0] == 0 && static_cast<std::size_t>(first_space.data()[n_slots_]) * p == u.size());
    for (std::size_t i = 0; i < place.size(); ++i)
      require_size(place.data()[i] < static_cast<std::int64_t>(directions));
    return {first_space.data(), u.data(), place.data()};
  }

  std::optional<InOut<double>> room_;
  std::size_t p, n_slots_, n_classes_, n_raw_ = 0;
  Levels levels_;
  std::unique_ptr<Block> block_;
};

// A search whose answers are arrays.
class HeldSearch {
 public:
  HeldSearch(const std::string& criterion, bool strict_ties, double min_leaf, const Doubles& of_class)
      : n_classes_(of_class.shape(0)),
        search_(make_slot_search({criterion, strict_ties, min_leaf, false},
                                 Vector(of_class.data(), of_class.data() + of_class.shape(0)))) {}

  void begin(In<std::int64_t> order, In<std::int32_t> present, std::optional<In<std::uint32_t>> counts,
             std::optional<In<double>> weighted, In<double> least, In<double> largest, In<double> low, In<double> scale,
             In<double> distinct, std::size_t n_codes, std::size_t n_bins, std::size_t rows) {
    const std::size_t d = order.size();
    require_size(counts.has_value() != weighted.has_value() && n_bins >= 2 && n_bins <= 256);
    require_size((counts ? counts->size() : weighted->size()) == d * n_codes * n_bins);
    require_size(least.size() == d && largest.size() == d && distinct.size() == d);
    require_size(low.size() == d && scale.size() == d && present.size() == n_classes_);
    for (std::size_t c = 0; c < n_classes_; ++c)
      require(present.data()[c] >= 0 && present.data()[c] < static_cast<std::int64_t>(n_codes),
              "present: no such class");
    const auto copy = [](const auto& from) {
      return std::vector<std::remove_cvref_t<decltype(*from.data())>>(from.data(), from.data() + from.size());
    };
    n_codes_ = n_codes;
    counts_ = counts;
    weighted_ = weighted;
    SlotSearch::Histograms given{copy(order),
                                 copy(present),
                                 copy(least),
                                 copy(largest),
                                 copy(low),
                                 copy(scale),
                                 copy(distinct),
                                 counts ? counts->data() : nullptr,
                                 weighted ? weighted->data() : nullptr,
                                 n_codes,
                                 n_bins,
                                 rows};
    const Released released;
    search_->begin(std::move(given));
  }

  // direction, bin, after, from, to, origin, scale, parts of what is wanted.
  nb::tuple wanted(double bytes, double of_row, double of_part, double few_rows) {
    std::vector<std::int64_t> direction, parts;
    std::vector<std::int32_t> bin, after;
    std::vector<double> from, to, origin, scale;
    n_parts_ = 0;
    {
      const Released released;
      for (const Look& look : search_->wanted({bytes, of_row, of_part, few_rows})) {
        direction.push_back(static_cast<std::int64_t>(look.direction));
        bin.push_back(look.bin);
        after.push_back(look.after);
        from.push_back(look.from);
        to.push_back(look.to);
        origin.push_back(look.origin);
        scale.push_back(look.scale);
        parts.push_back(look.parts);
        n_parts_ += static_cast<std::size_t>(look.parts);
      }
    }
    const std::size_t n = n_wanted_ = bin.size();
    return nb::make_tuple(array(std::move(direction), {n}), array(std::move(bin), {n}), array(std::move(after), {n}),
                          array(std::move(from), {n}), array(std::move(to), {n}), array(std::move(origin), {n}),
                          array(std::move(scale), {n}), array(std::move(parts), {n}));
  }

  void take(In<std::int32_t> entry, In<std::int32_t> code, In<double> z, In<double> weight,
            std::optional<In<std::uint32_t>> counts, std::optional<In<double>> weighted, In<double> low,
            In<double> high, In<double> smallest) {
    const std::size_t n = entry.size();
    require_size(code.size() == n && z.size() == n && weight.size() == n && smallest.size() == n_wanted_);
    require_size(counts.has_value() == counts_.has_value() && weighted.has_value() == weighted_.has_value());
    require_size((counts ? counts->size() : weighted->size()) == n_parts_ * n_codes_);
    require_size(low.size() == n_parts_ && high.size() == n_parts_);
    for (std::size_t i = 0; i < n; ++i) {
      require(code.data()[i] >= 0 && code.data()[i] < static_cast<std::int64_t>(n_codes_), "code: no such class");
      require(entry.data()[i] >= (i == 0 ? 0 : entry.data()[i - 1]) &&
                  entry.data()[i] < static_cast<std::int64_t>(n_wanted_),
              "entries of rows must rise");
    }
    const Released released;
    search_->take({entry.data(), code.data(), z.data(), weight.data(), n, counts ? counts->data() : nullptr,
                   weighted ? weighted->data() : nullptr, low.data(), high.data(), smallest.data()});
    n_wanted_ = n_parts_ = 0;
  }

  void offer_cut(std::int64_t order, double threshold, const Doubles& left, double least) {
    require_size(left.shape(0) == n_classes_);
    search_->offer_cut(order, threshold, left.data(), least);
  }

  // (order, threshold, gain) or None.
  nb::object winner() const {
    const Cut cut = search_->winner();
    if (cut.order < 0) return nb::none();
    return nb::make_tuple(cut.order, cut.threshold, search_->gain(cut.value));
  }

 private:
  std::size_t n_classes_, n_codes_ = 0, n_wanted_ = 0, n_parts_ = 0;
  std::optional<In<std::uint32_t>> counts_;  // the histograms, which the search reads again and again
  std::optional<In<double>> weighted_;
  std::unique_ptr<SlotSearch> search_;
};

// ---- what sums of blocks say ----------------------------------------------------------------------------------------

nb::tuple frames(const Matrix& low, const Matrix& high) {
  const std::size_t n = low.shape(0), p = low.shape(1);
  require_size(high.shape(0) == n && high.shape(1) == p);
  std::vector<double> center(n * p, 0.0), inverse(n * p, -1.0);
  std::vector<std::uint8_t> differ(n, 0);
  for (std::size_t i = 0; i < n; ++i)
    if (low(i, 0) <= high(i, 0))
      differ[i] =
          class_frame(low.data() + i * p, high.data() + i * p, p, center.data() + i * p, inverse.data() + i * p);
  return nb::make_tuple(array(std::move(center), {n, p}), array(std::move(inverse), {n, p}),
                        array(std::move(differ), {n}));
}

ClassSums sums_of(const Doubles& center, const Doubles& inverse, const In<std::int64_t>& high,
                  const In<std::int64_t>& low, double total, double unit) {
  const std::size_t p = center.shape(0);
  require_size(inverse.shape(0) == p && high.size() == packed_size(p) && low.size() == packed_size(p));
  return {p, center.data(), inverse.data(), high.data(), low.data(), total, unit};
}

nb::object scatter(const Doubles& center, const Doubles& inverse, const In<std::int64_t>& high,
                   const In<std::int64_t>& low, double total, double unit, double factor, double scale) {
  Vector out;
  sums_of(center, inverse, high, low, total, unit).scatter(factor, scale, out);
  return array(std::move(out), {center.shape(0), center.shape(0)});
}

nb::object mean(const Doubles& center, const Doubles& inverse, const In<std::int64_t>& high,
                const In<std::int64_t>& low, double total, double unit) {
  const std::size_t p = center.shape(0);
  const ClassSums sums = sums_of(center, inverse, high, low, total, unit);
  Vector out(p);
  for (std::size_t j = 0; j < p; ++j) out[j] = sums.mean(j);
  return array(std::move(out), {p});
}

nb::object symmetric(std::size_t p, const In<std::int64_t>& high, const In<std::int64_t>& low, double unit) {
  require_size(high.size() == packed_size(p) && low.size() == packed_size(p));
  Vector out((p + 1) * (p + 1), 0.0);
  add_symmetric({p, nullptr, nullptr, high.data(), low.data(), 1.0, unit}, out);
  return array(std::move(out), {p + 1, p + 1});
}

nb::object shrunken(const Matrix& covariance, const Doubles& pooled, double n) {
  const std::size_t p = pooled.shape(0);
  require_size(covariance.shape(0) == p && covariance.shape(1) == p);
  Vector out(covariance.data(), covariance.data() + p * p);
  shrink(out, Vector(pooled.data(), pooled.data() + p), n);
  return array(std::move(out), {p, p});
}

nb::object reflected_spaces(const Matrix& vectors, double tau, bool both) {
  const std::size_t p = vectors.shape(1);
  std::vector<Space> spaces;
  add_reflections(Vector(vectors.data(), vectors.data() + vectors.size()), p, tau, both, spaces);
  std::vector<double> out(spaces.size() * p, 0.0);
  for (std::size_t i = 0; i < spaces.size(); ++i)
    if (!spaces[i].original)
      std::copy(spaces[i].u.begin(), spaces[i].u.end(), out.begin() + static_cast<std::ptrdiff_t>(i * p));
  return array(std::move(out), {spaces.size(), p});
}

Spread spread_of(const Doubles& low, const Doubles& high) {
  const std::size_t p = low.shape(0);
  require_size(high.shape(0) == p);
  std::vector<double> corners(2 * p);
  NodeRows rows;
  rows.n = 2;
  for (std::size_t j = 0; j < p; ++j) {
    corners[2 * j] = low(j);
    corners[2 * j + 1] = high(j);
    rows.columns.push_back(corners.data() + 2 * j);
  }
  Spread spread;
  spread.measure(rows);
  return spread;
}

nb::object distinct_gaps(const Matrix& u, const Doubles& low, const Doubles& high) {
  const std::size_t p = u.shape(1);
  require_size(low.shape(0) == p);
  const Spread spread = spread_of(low, high);
  std::vector<double> out(u.shape(0) * p);
  for (std::size_t s = 0; s < u.shape(0); ++s) {
    const Vector vector(u.data() + s * p, u.data() + (s + 1) * p);
    const Spread::Reflected reflected(spread, vector);
    for (std::size_t j = 0; j < p; ++j) out[s * p + j] = vector[j] == 0.0 ? spread.of_axis(j) : reflected.of_axis(j);
  }
  return array(std::move(out), {u.shape(0) * p});
}

nb::list bisectors(const Matrix& largest, const Matrix& others, double weight, double rest, const Doubles& low,
                   const Doubles& high, bool strict_ties) {
  const std::size_t p = low.shape(0);
  require_size(largest.size() == (p + 1) * (p + 1) && others.size() == largest.size());
  const Spread spread = spread_of(low, high);
  Bisectors finder;
  std::vector<Plane> planes;
  nb::list out;
  const Vector a(largest.data(), largest.data() + largest.size()), b(others.data(), others.data() + others.size());
  if (!finder.from_moments(a, b, weight, rest, spread, planes)) return out;
  for (Plane& plane : planes) {
    if (!strict_ties) plane.t += spread.of_direction(plane.w.data());
    out.append(nb::make_tuple(array(std::move(plane.w), {p}), plane.t));
  }
  return out;
}

nb::object oriented(const Doubles& v, double sign) {
  Vector out(v.data(), v.data() + v.shape(0));
  orient(out.data(), out.size(), sign);
  return array(std::move(out), {v.shape(0)});
}

nb::tuple standard_of(const Doubles& low, const Doubles& high) {
  const Spread spread = spread_of(low, high);
  Standard standard = Standard::of(spread.center, spread.range);
  const std::size_t p = low.shape(0);
  return nb::make_tuple(array(std::move(standard.center), {p}), array(std::move(standard.scale), {p}));
}

std::size_t exact_above(std::optional<std::size_t> rows) {
  const std::size_t before = exact_sums_above();
  if (rows) set_exact_sums_above(*rows);
  return before;
}

// Rows of a chunk that belong to slots, slot by slot and in each as they lie: their slots, values (m, p), codes and
// weights. of_place : the slot of each place, below 0 for none; a place below 0 has none
nb::tuple rows_of_slots(const In<double>& columns, const Codes& codes, const std::optional<Doubles>& weights,
                        const Codes& places, const Codes& of_place, std::size_t n_slots) {
  require_size(columns.ndim() == 2);
  const std::size_t p = columns.shape(0), n = columns.shape(1);
  require_size(codes.shape(0) == n && places.shape(0) == n && (!weights || weights->shape(0) == n));
  std::vector<std::size_t> start(n_slots + 1, 0), rows;
  std::vector<std::int32_t> slots, code;
  Vector values, weight;
  {
    const Released released;
    const auto slot_of = [&](std::size_t i) {
      const std::int32_t place = places.data()[i];
      return place < 0 ? -1 : of_place.data()[place];
    };
    for (std::size_t i = 0; i < n; ++i)
      require(places.data()[i] < static_cast<std::int64_t>(of_place.shape(0)), "a place is beyond those of the level");
    for (std::size_t place = 0; place < of_place.shape(0); ++place)
      require(of_place.data()[place] < static_cast<std::int64_t>(n_slots), "slots must be below n_slots");
    for (std::size_t i = 0; i < n; ++i)
      if (const std::int32_t slot = slot_of(i); slot >= 0) ++start[static_cast<std::size_t>(slot) + 1];
    for (std::size_t slot = 0; slot < n_slots; ++slot) start[slot + 1] += start[slot];
    const std::size_t m = start[n_slots];
    rows.resize(m);
    slots.resize(m);
    code.resize(m);
    for (std::size_t i = 0; i < n; ++i)
      if (const std::int32_t slot = slot_of(i); slot >= 0) {
        const std::size_t at = start[static_cast<std::size_t>(slot)]++;
        rows[at] = i;
        slots[at] = slot;
        code[at] = codes.data()[i];
      }
    // A few hundred rows at a time, so that what is written stays in a near cache.
    constexpr std::size_t stretch = 512;
    values.resize(m * p);
    for (std::size_t first = 0; first < m; first += stretch)
      for (std::size_t j = 0; j < p; ++j) {
        const double* column = columns.data() + j * n;
        for (std::size_t i = first; i < std::min(first + stretch, m); ++i) values[i * p + j] = column[rows[i]];
      }
    if (weights)
      for (const std::size_t row : rows) weight.push_back(weights->data()[row]);
  }
  const std::size_t m = rows.size();
  nb::object of_weights = nb::none();
  if (weights) of_weights = array(std::move(weight), {m});
  return nb::make_tuple(array(std::move(slots), {m}), array(std::move(values), {m, p}), array(std::move(code), {m}),
                        of_weights);
}

}  // namespace

void bind_scale(nb::module_& m) {
  nb::class_<HeldBlock>(m, "Block", "Rows of many nodes, and what each pass over them asks (core/rows/block.hpp).")
      .def(nb::init<const In<double>&, const Codes&, const Codes&, const std::optional<Doubles>&, std::size_t,
                    std::size_t, const std::optional<Codes>&, const std::optional<In<double>>&,
                    const std::optional<InOut<double>>&>(),
           "columns"_a.noconvert(), "codes"_a.noconvert(), "slots"_a.noconvert(), "weights"_a.noconvert().none(),
           "n_slots"_a, "n_classes"_a, "levels"_a.noconvert().none() = nb::none(),
           "scores"_a.noconvert().none() = nb::none(), "room"_a.noconvert().none() = nb::none())
      .def_prop_ro("n_rows", &HeldBlock::n_rows)
      .def("add_boxes", &HeldBlock::add_boxes, "rows"_a.noconvert(), "weight"_a.noconvert(), "heaviest"_a.noconvert(),
           "low"_a.noconvert(), "high"_a.noconvert(), "tables"_a.noconvert())
      .def("add_moments", &HeldBlock::add_moments, "center"_a.noconvert(), "inverse"_a.noconvert(),
           "unit"_a.noconvert(), "high"_a.noconvert(), "low"_a.noconvert())
      .def("raise_squares", &HeldBlock::raise_squares, "mean"_a.noconvert(), "inverse"_a.noconvert(),
           "factor"_a.noconvert(), "largest"_a.noconvert())
      .def("add_unit_moments", &HeldBlock::add_unit_moments, "mean"_a.noconvert(), "inverse"_a.noconvert(),
           "factor"_a.noconvert(), "least"_a.noconvert(), "unit"_a.noconvert(), "high"_a.noconvert(),
           "low"_a.noconvert())
      .def("add_left", &HeldBlock::add_left, "normals"_a.noconvert(), "thresholds"_a.noconvert(), "left"_a.noconvert())
      .def("add_histograms", &HeldBlock::add_histograms, "first_space"_a.noconvert(), "u"_a.noconvert(),
           "place"_a.noconvert(), "low"_a.noconvert(), "scale"_a.noconvert(), "n_bins"_a, "counts"_a.noconvert().none(),
           "weighted"_a.noconvert().none(), "least"_a.noconvert(), "largest"_a.noconvert())
      .def("look", &HeldBlock::look, "first_space"_a.noconvert(), "u"_a.noconvert(), "place"_a.noconvert(),
           "low"_a.noconvert(), "scale"_a.noconvert(), "n_bins"_a, "direction"_a.noconvert(), "bin"_a.noconvert(),
           "after"_a.noconvert(), "from_"_a.noconvert(), "to"_a.noconvert(), "origin"_a.noconvert(),
           "step"_a.noconvert(), "first_part"_a.noconvert(), "counts"_a.noconvert().none(),
           "weighted"_a.noconvert().none(), "part_low"_a.noconvert(), "part_high"_a.noconvert(),
           "smallest"_a.noconvert())
      .def("route", &HeldBlock::route, "normals"_a.noconvert(), "thresholds"_a.noconvert(), "left_slot"_a.noconvert(),
           "right_slot"_a.noconvert(), "next"_a.noconvert(), "below"_a.noconvert(), "above"_a.noconvert());
  nb::class_<HeldSearch>(m, "SlotSearch", "Search of a node whose rows lie in blocks (core/split/slot_search.hpp).")
      .def(nb::init<const std::string&, bool, double, const Doubles&>(), "criterion"_a, "strict_ties"_a, "min_leaf"_a,
           "of_class"_a.noconvert())
      .def("begin", &HeldSearch::begin, "order"_a.noconvert(), "present"_a.noconvert(), "counts"_a.noconvert().none(),
           "weighted"_a.noconvert().none(), "least"_a.noconvert(), "largest"_a.noconvert(), "low"_a.noconvert(),
           "scale"_a.noconvert(), "distinct"_a.noconvert(), "n_codes"_a, "n_bins"_a, "rows"_a)
      .def("wanted", &HeldSearch::wanted, "bytes"_a, "of_row"_a, "of_part"_a, "few_rows"_a)
      .def("take", &HeldSearch::take, "entry"_a.noconvert(), "code"_a.noconvert(), "z"_a.noconvert(),
           "weight"_a.noconvert(), "counts"_a.noconvert().none(), "weighted"_a.noconvert().none(), "low"_a.noconvert(),
           "high"_a.noconvert(), "smallest"_a.noconvert())
      .def("offer_cut", &HeldSearch::offer_cut, "order"_a, "threshold"_a, "left"_a.noconvert(), "least"_a)
      .def("winner", &HeldSearch::winner);
  m.def(
      "rows_of_slots", &rows_of_slots, "columns"_a.noconvert(), "codes"_a.noconvert(), "weights"_a.noconvert().none(),
      "places"_a.noconvert(), "of_place"_a.noconvert(), "n_slots"_a,
      "Rows of a chunk, columns (p, n), that belong to slots, in the order of these: slots (m,), values (m, p), codes "
      "(m,) and weights (m,) or None. of_place: the slot of each place, below 0 for none.");
  m.def("exact_sums_above", &exact_above, "rows"_a = nb::none(),
        "Rows above which the moments of a node are exact sums; sets it, for tests, and returns what it was.");
  m.def("moment_factor", &ClassMoments::factor_of, "widest"_a,
        "Power of 2 that keeps squares of rows in range, the widest feature being so wide.");
  m.def(
      "class_frames", &frames, "low"_a.noconvert(), "high"_a.noconvert(),
      "Coordinates for the moments of classes with these ranges, (n, p) each: centers, inverse scales (-1 for a class "
      "without rows), and whether rows differ at all.");
  m.def("weight_unit", &weight_unit, "heaviest"_a, "Power of 2 that brings weights to at most 1.");
  m.def("class_scatter", &scatter, "center"_a.noconvert(), "inverse"_a.noconvert(), "high"_a.noconvert(),
        "low"_a.noconvert(), "total"_a, "unit"_a, "factor"_a, "scale"_a, "Scatter about the mean times scale, (p, p).");
  m.def("class_mean", &mean, "center"_a.noconvert(), "inverse"_a.noconvert(), "high"_a.noconvert(), "low"_a.noconvert(),
        "total"_a, "unit"_a, "Mean of a class, (p,).");
  m.def("class_products", &symmetric, "p"_a, "high"_a.noconvert(), "low"_a.noconvert(), "unit"_a,
        "Sums of products of [y 1], (p + 1, p + 1).");
  m.def("shrunken", &shrunken, "covariance"_a.noconvert(), "pooled"_a.noconvert(), "n"_a,
        "Covariance of a small class, drawn towards the diagonal of pooled variances.");
  m.def("reflected_spaces", &reflected_spaces, "vectors"_a.noconvert(), "tau"_a, "both"_a,
        "u of each reflection that sends a vector to the first axis, 0 for the original space, as rows.");
  m.def("distinct_gaps", &distinct_gaps, "u"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(),
        "Gaps above which projections on the axes of spaces differ, for rows in the box low to high.");
  m.def("bisectors", &bisectors, "largest"_a.noconvert(), "others"_a.noconvert(), "weight"_a, "rest"_a,
        "low"_a.noconvert(), "high"_a.noconvert(), "strict_ties"_a,
        "Angle bisectors (w, t) of the clustering hyperplanes, from products in the coordinates `standard_box`.");
  m.def("oriented", &oriented, "v"_a.noconvert(), "sign"_a, "A vector with the sign of its first component set.");
  m.def("standard_box", &standard_of, "low"_a.noconvert(), "high"_a.noconvert(),
        "Center and scale of the standard coordinates of a box.");
}

}  // namespace oblique
