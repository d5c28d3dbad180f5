// A block of rows of many nodes, and the sums that passes over the rows of a tree compute from it.
// In a tree that grows from blocks, the rows of a node are never in memory together. Each pass computes the same sums,
// counts or extremes of the open nodes from every block; those of several blocks are added, or the extremes are
// combined, so neither the number of blocks nor their order changes the result.
#pragma once

#include "common/clones.hpp"
#include "common/interrupt.hpp"
#include "rows/exact_moments.hpp"
#include "tree/levels.hpp"

namespace oblique {

// Rows by columns: n values each, one column after the other. slots : of each row's open node, negative for none.
struct RawRows {
  const double* columns;
  const int32_t* codes;
  const int32_t* slots;
  const double* weights;  // or nullptr if all are 1
  size_t n, p;
};

// The directions of every open node: those of the spaces first_space[slot] to first_space[slot + 1], whose axes are e_j
// - 2 u_j u; u = 0 is the original space. place[space * p + axis] : number of a direction to search, or -1.
struct SlotSpaces {
  const int64_t* first_space;
  const double* u;  // (n_spaces, p)
  const int64_t* place;
};

// The cells that `Block::look` examines, sorted by direction, bin and `from`: rows of bin bin[e] of direction
// direction[e], from from[e] to to[e]. They are counted in the parts first_part[e] to first_part[e + 1], of equal width
// starting at origin[e], or returned row by row if there are no parts. after[e] is the next bin that holds rows, or -1.
struct WantedCells {
  const int64_t* direction;
  const int32_t *bin, *after;
  const double *from, *to, *origin, *scale;
  const int64_t* first_part;  // (n + 1,)
  size_t n;
};

// Counts, or with weights sums, (classes, parts) of one cell after the other; and the range of each part.
struct PartTables {
  uint32_t* counts;
  double *weighted, *low, *high;
};

// Rows of wanted cells, equal rows joined.
struct GatheredRows {
  std::vector<int32_t> entry, code;
  std::vector<double> z, weight;
};

// Places of equal width, 0 to `last`. Monotone in z.
struct Ruler {
  double origin, scale, last;
  size_t at(double z) const {
    const double place = (z - origin) * scale;
    // NaN becomes 0, since the comparison is false.
    return static_cast<size_t>(static_cast<int64_t>(place > 0.0 ? std::min(place, last) : 0.0));
  }
};

// A wanted cell: its rows, and the parts that they fall into.
struct WantedCell {
  double from, to;
  Ruler ruler;
  size_t part, width;
};

// Where the search for the cell of a row begins in a bin: the array of starts has it at start + place on the ruler.
struct Guide {
  Ruler ruler;
  size_t start;
};

// The cells of one direction, by bin.
struct CellsOfDirection {
  static constexpr uint8_t kOpen = 1, kFollows = 2;
  uint8_t role[256] = {};
  int32_t first[256], end[256], follows[256], guide[256];
};

// The cells of all directions. of[d] : index of direction d in `by_bin`, or -1
class CellsByDirection {
 public:
  std::vector<int32_t> of;
  std::vector<CellsOfDirection> by_bin;
  std::vector<WantedCell> cells;

  explicit CellsByDirection(const WantedCells& wanted) {
    if (wanted.n > 0) of.assign(static_cast<size_t>(wanted.direction[wanted.n - 1]) + 1, -1);  // they ascend
    cells.reserve(wanted.n);
    for (size_t e = 0; e < wanted.n; ++e) {
      int32_t& place = of[wanted.direction[e]];
      if (place < 0) {
        place = static_cast<int32_t>(by_bin.size());
        by_bin.emplace_back();
      }
      CellsOfDirection& here = by_bin[place];
      const int32_t bin = wanted.bin[e], after = wanted.after[e];
      if (!(here.role[bin] & CellsOfDirection::kOpen)) here.first[bin] = static_cast<int32_t>(e);
      here.end[bin] = static_cast<int32_t>(e) + 1;
      here.role[bin] |= CellsOfDirection::kOpen;
      if (after >= 0) {
        here.role[after] |= CellsOfDirection::kFollows;
        here.follows[after] = static_cast<int32_t>(e);
      }
      const size_t part = static_cast<size_t>(wanted.first_part[e]),
                   width = static_cast<size_t>(wanted.first_part[e + 1]) - part;
      const double last = width > 0 ? static_cast<double>(width - 1) : 0.0;
      cells.push_back({wanted.from[e], wanted.to[e], {wanted.origin[e], wanted.scale[e], last}, part, width});
    }
    for (CellsOfDirection& here : by_bin)
      for (int bin = 0; bin < 256; ++bin)
        if ((here.role[bin] & CellsOfDirection::kOpen) && here.end[bin] - here.first[bin] > 1)
          here.guide[bin] = add_guide(here.first[bin], here.end[bin]);
  }

  // The cell of a row in a bin of its direction that has cells, or nullptr.
  const WantedCell* find(const CellsOfDirection& here, uint8_t bin, double z) const {
    const WantedCell *cell = cells.data() + here.first[bin], *const end = cells.data() + here.end[bin];
    if (end - cell > 1) {
      const Guide& guide = guides_[here.guide[bin]];
      cell = cells.data() + starts_[guide.start + guide.ruler.at(z)];
      while (cell < end && cell->to < z) ++cell;
    }
    return cell < end && z >= cell->from && z <= cell->to ? cell : nullptr;
  }

 private:
  int32_t add_guide(int32_t first, int32_t end) {
    const auto cell = [this](int32_t e) -> const WantedCell& { return cells[e]; };
    const double low = cell(first).from, width = cell(end - 1).to - low, places = 2.0 * (end - first);
    const Ruler ruler{low, width > 0.0 ? places / width : 0.0, places - 1.0};
    guides_.push_back({ruler, starts_.size()});
    int32_t e = first;
    for (size_t place = 0; place < static_cast<size_t>(places); ++place) {
      // Cells that end at a lower place end below all rows here.
      while (e < end && ruler.at(cell(e).to) < place) ++e;
      starts_.push_back(e);
    }
    return static_cast<int32_t>(guides_.size()) - 1;
  }

  std::vector<Guide> guides_;
  std::vector<int32_t> starts_;
};

namespace block {

constexpr size_t kStretch = 2048;  // rows at a time, so that their columns stay in a near cache
// For tables of all directions that are too large for any cache: one direction's table should stay there.
constexpr size_t kLongStretch = 32768, kLargeTables = size_t{1} << 23;

// bins[i] = floor((z[i] - low) * scale), limited to 0 ... n_bins - 1. Monotone in z.
OBLIQUE_NARROW static void bins_of(const double* __restrict z, double low, double scale, int n_bins,
                                   uint8_t* __restrict bins, size_t n) {
  const double last = static_cast<double>(n_bins - 1);
  for (size_t i = 0; i < n; ++i) {
    double at = (z[i] - low) * scale;
    at = at > 0.0 ? at : 0.0;
    at = at < last ? at : last;
    bins[i] = static_cast<uint8_t>(static_cast<int>(at));
  }
}

}  // namespace block

class Block {
 public:
  // scores : those of the levels in every slot, (n_slots, levels.width), or nullptr to leave codes of levels unchanged.
  // room : buffer of n * p numbers that outlives the block, or nullptr for an internal buffer
  Block(const RawRows& rows, size_t n_slots, size_t n_classes, const Levels& levels, const double* scores, double* room)
      : p_(rows.p), n_classes_(n_classes), levels_(levels) {
    std::vector<size_t> start(n_slots * n_classes + 1, 0);
    const auto group = [&](size_t i) {
      return static_cast<size_t>(rows.slots[i]) * n_classes + static_cast<size_t>(rows.codes[i]);
    };
    for (size_t i = 0; i < rows.n; ++i)
      if (rows.slots[i] >= 0) ++start[group(i) + 1];
    for (size_t g = 0; g + 1 < start.size(); ++g) {
      const size_t n = start[g + 1];
      if (n > 0) segments_.push_back({g / n_classes, g % n_classes, start[g], n});
      start[g + 1] += start[g];
    }
    row_.resize(start.back());
    for (size_t i = 0; i < rows.n; ++i)
      if (rows.slots[i] >= 0) row_[start[group(i)]++] = static_cast<uint32_t>(i);
    const size_t n = row_.size();
    if (!room) own_ = std::make_unique_for_overwrite<double[]>(n * p_);
    columns_ = room ? room : own_.get();
    for (size_t j = 0; j < p_; ++j) {
      const double* from = rows.columns + j * rows.n;
      double* to = columns_ + j * n;
      for (size_t i = 0; i < n; ++i) to[i] = from[row_[i]];
    }
    if (rows.weights) {
      weights_.resize(n);
      for (size_t i = 0; i < n; ++i) weights_[i] = rows.weights[row_[i]];
    }
    if (scores)
      for (const Segment& s : segments_)
        for (size_t q = 0; q < levels.features.size(); ++q) {
          const size_t j = levels.features[q];
          const double* of_slot = scores + s.slot * levels.width + levels.offset[q];
          double* x = columns_ + j * n + s.first;
          for (size_t i = 0; i < s.n; ++i) {
            const int32_t level = level_of(x[i], levels.count[j]);
            x[i] = level < 0 ? 0.0 : of_slot[level];
          }
        }
    checkpoint(n * p_);
  }

  size_t n_rows() const { return row_.size(); }

  // Rows, weight and heaviest row of every class in every slot, and the range of every feature there. A range without
  // rows stays unchanged. tables : weights of levels by slot and class, (n_slots, n_classes, width + features); the
  // last place of a feature is for cells without a level.
  struct Boxes {
    int64_t* rows;
    double *weight, *heaviest, *low, *high, *tables;
  };

  void add_boxes(const Boxes& out) const {
    const size_t width = levels_.width + levels_.features.size();
    for (const Segment& s : segments_) {
      const size_t at = s.slot * n_classes_ + s.code;
      out.rows[at] += static_cast<int64_t>(s.n);
      double sum = static_cast<double>(s.n), heaviest = 1.0;
      if (!weights_.empty()) {
        sum = 0.0;
        for (size_t i = s.first; i < s.first + s.n; ++i) sum += weights_[i];
        heaviest = range_of(weights_.data() + s.first, s.n).high;
      }
      out.weight[at] += sum;
      out.heaviest[at] = std::max(out.heaviest[at], heaviest);
      for (size_t j = 0; j < p_; ++j) {
        if (levels_.count[j] > 0) continue;
        const Range range = range_of(column(j) + s.first, s.n);
        double &low = out.low[at * p_ + j], &high = out.high[at * p_ + j];
        low = std::min(low, range.low);
        high = std::max(high, range.high);
      }
      for (size_t q = 0; q < levels_.features.size(); ++q) {
        const size_t j = levels_.features[q];
        const int32_t count = levels_.count[j];
        double* table = out.tables + at * width + levels_.offset[q] + q;
        for (size_t i = s.first; i < s.first + s.n; ++i) {
          const int32_t level = level_of(column(j)[i], count);
          table[level < 0 ? count : level] += weight(i);
        }
      }
      checkpoint(s.n * p_);
    }
  }

  // Frames by slot and class; frames with `inverse` < 0 are skipped.
  void add_moments(const double* center, const double* inverse, const double* unit, int64_t* high, int64_t* low) const {
    const size_t size = packed_size(p_);
    for_each_framed(inverse, unit, [&](ExactMoments& moments, const FramedRows& rows, size_t, size_t at) {
      moments.add(rows, center + at * p_, inverse + at * p_, high + at * size, low + at * size);
    });
  }

  void raise_squares(const double* mean, const double* inverse, const double* factor, double* largest) const {
    for_each_framed(inverse, nullptr, [&](ExactMoments& moments, const FramedRows& rows, size_t slot, size_t at) {
      const double bound = moments.largest_square(rows, mean + at * p_, inverse + at * p_, factor[slot]);
      largest[at] = std::max(largest[at], bound);
    });
  }

  void add_unit_moments(const double* mean, const double* inverse, const double* factor, const double* least,
                        const double* unit, int64_t* high, int64_t* low) const {
    const size_t size = packed_size(p_);
    for_each_framed(inverse, unit, [&](ExactMoments& moments, const FramedRows& rows, size_t slot, size_t at) {
      moments.add_unit_rows(rows, mean + at * p_, inverse + at * p_, factor[slot], least[at], high + at * size,
                            low + at * size);
    });
  }

  // Left weight by slot, plane and class, by the arithmetic of prediction. Planes with a NaN threshold are skipped.
  void add_left(const double* normals, const double* thresholds, size_t n_planes, double* left) const {
    double z[block::kStretch];
    for (const Segment& s : segments_)
      for (size_t plane = 0; plane < n_planes; ++plane) {
        const size_t at = s.slot * n_planes + plane;
        if (std::isnan(thresholds[at])) continue;
        for (size_t first = s.first; first < s.first + s.n; first += block::kStretch) {
          const size_t n = std::min(block::kStretch, s.first + s.n - first);
          project(normals + at * p_, first, n, z);
          double sum = 0.0;
          for (size_t i = 0; i < n; ++i)
            if (z[i] <= thresholds[at]) sum += weight(first + i);
          left[at * n_classes_ + s.code] += sum;
        }
      }
  }

  // Rows by direction, class and bin, as counts or, with weights, in `weighted`; and the range of every direction.
  void add_histograms(const SlotSpaces& spaces, const double* low, const double* scale, int n_bins, uint32_t* counts,
                      double* weighted, double* least, double* largest) const {
    uint8_t bins[block::kStretch];
    const size_t width = n_bins;
    for (const Segment& s : segments_)
      each_direction(s, spaces, block::kStretch, [&](size_t d, const double* z, Range range, size_t first, size_t n) {
        least[d] = std::min(least[d], range.low);
        largest[d] = std::max(largest[d], range.high);
        block::bins_of(z, low[d], scale[d], n_bins, bins, n);
        const size_t at = (d * n_classes_ + s.code) * width;
        if (counts)
          for (size_t i = 0; i < n; ++i) ++counts[at + bins[i]];
        else
          for (size_t i = 0; i < n; ++i) weighted[at + bins[i]] += weights_[first + i];
      });
  }

  // smallest[e] : lowered to the smallest projection in bin after[e].
  GatheredRows look(const SlotSpaces& spaces, const double* low, const double* scale, int n_bins,
                    const WantedCells& wanted, const PartTables& parts, double* smallest) const {
    const CellsByDirection all(wanted);
    struct Found {
      int32_t entry, code;
      double z, weight;
    };
    std::vector<Found> hits;
    const size_t n_parts = wanted.n == 0 ? 0 : static_cast<size_t>(wanted.first_part[wanted.n]);
    const size_t bytes = n_parts * ((parts.counts ? sizeof(uint32_t) : sizeof(double)) * n_classes_ + 16);
    const size_t stretch = bytes > block::kLargeTables ? block::kLongStretch : block::kStretch;
    std::vector<uint8_t> bins(std::min(stretch, row_.size()));
    for (const Segment& s : segments_)
      each_direction(s, spaces, stretch, [&](size_t d, const double* z, Range, size_t first, size_t n) {
        if (d >= all.of.size() || all.of[d] < 0) return;
        const CellsOfDirection& here = all.by_bin[all.of[d]];
        block::bins_of(z, low[d], scale[d], n_bins, bins.data(), n);
        for (size_t i = 0; i < n; ++i) {
          const uint8_t role = here.role[bins[i]];
          if (!role) continue;
          if (role & CellsOfDirection::kFollows) {
            double& least = smallest[here.follows[bins[i]]];
            least = std::min(least, z[i]);
          }
          if (!(role & CellsOfDirection::kOpen)) continue;
          const WantedCell* const cell = all.find(here, bins[i], z[i]);
          if (!cell) continue;
          if (cell->width == 0) {
            hits.push_back(
                {static_cast<int32_t>(cell - all.cells.data()), static_cast<int32_t>(s.code), z[i], weight(first + i)});
            continue;
          }
          const size_t q = cell->ruler.at(z[i]);
          const size_t count = cell->part * n_classes_ + s.code * cell->width + q;
          if (parts.counts)
            ++parts.counts[count];
          else
            parts.weighted[count] += weights_[first + i];
          double &least = parts.low[cell->part + q], &largest = parts.high[cell->part + q];
          if (z[i] < least) least = z[i];
          if (z[i] > largest) largest = z[i];
        }
      });
    std::sort(hits.begin(), hits.end(), [](const Found& a, const Found& b) {
      return std::tie(a.entry, a.z, a.code) < std::tie(b.entry, b.z, b.code);
    });
    GatheredRows out;
    for (const Found& each : hits) {
      if (!out.z.empty() && out.entry.back() == each.entry && out.z.back() == each.z && out.code.back() == each.code) {
        out.weight.back() += each.weight;
        continue;
      }
      out.entry.push_back(each.entry);
      out.code.push_back(each.code);
      out.z.push_back(each.z);
      out.weight.push_back(each.weight);
    }
    return out;
  }

  // Sends rows to the slots of the children of their node: to left_slot[s] if normal'x <= threshold. next : (n,) new
  // slots, in the order of the input. below, above : updated by the projections next to the threshold.
  void route(const double* normals, const double* thresholds, const int32_t* left_slot, const int32_t* right_slot,
             int32_t* next, double* below, double* above) const {
    double z[block::kStretch];
    for (const Segment& s : segments_) {
      const double t = thresholds[s.slot];
      if (std::isnan(t)) continue;  // a node without a split: its rows belong to no slot
      double low = below[s.slot], high = above[s.slot];
      for (size_t first = s.first; first < s.first + s.n; first += block::kStretch) {
        const size_t n = std::min(block::kStretch, s.first + s.n - first);
        project(normals + s.slot * p_, first, n, z);
        for (size_t i = 0; i < n; ++i) {
          const bool goes_left = z[i] <= t;
          if (goes_left)
            low = std::max(low, z[i]);
          else
            high = std::min(high, z[i]);
          next[row_[first + i]] = goes_left ? left_slot[s.slot] : right_slot[s.slot];
        }
      }
      below[s.slot] = low;
      above[s.slot] = high;
    }
  }

 private:
  struct Segment {
    size_t slot, code, first, n;
  };
  const double* column(size_t j) const { return columns_ + j * row_.size(); }

  double weight(size_t i) const { return weights_.empty() ? 1.0 : weights_[i]; }

  // Calls use(moments, rows, slot, slot * n_classes + code) for the segments with a frame. unit : nullptr for 1
  template <class Use>
  void for_each_framed(const double* inverse, const double* unit, const Use& use) const {
    ExactMoments moments;
    std::vector<const double*> columns(p_);
    for (const Segment& s : segments_) {
      const size_t at = s.slot * n_classes_ + s.code;
      if (inverse[at * p_] < 0.0) continue;
      for (size_t j = 0; j < p_; ++j) columns[j] = column(j) + s.first;
      const double* weights = weights_.empty() ? nullptr : weights_.data() + s.first;
      use(moments, FramedRows{columns.data(), s.n, p_, weights, unit ? unit[at] : 1.0}, s.slot, at);
    }
  }

  // z = normal'x for some rows, by the arithmetic of dot_row.
  void project(const double* normal, size_t first, size_t n, double* z) const {
    // dot_row sums four lanes, and then the lanes.
    std::vector<double> lanes(4 * n, 0.0);
    for (size_t j = 0; j < p_; ++j) add_scaled(normal[j], column(j) + first, lanes.data() + (j % 4) * n, n);
    for (size_t i = 0; i < n; ++i) z[i] = (lanes[i] + lanes[n + i]) + (lanes[2 * n + i] + lanes[3 * n + i]);
    checkpoint(p_ * n);
  }

  // Calls use(direction, z, range, first row, n) for every searched direction of a segment, `stretch` rows at a time.
  template <class Use>
  void each_direction(const Segment& s, const SlotSpaces& spaces, size_t stretch, Use use) const {
    std::vector<double> room(2 * std::min(stretch, s.n));
    double *const z = room.data(), *const xu = z + room.size() / 2;
    std::vector<const double*> columns(p_);
    const size_t begin = static_cast<size_t>(spaces.first_space[s.slot]),
                 end = static_cast<size_t>(spaces.first_space[s.slot + 1]);
    for (size_t first = s.first; first < s.first + s.n && begin < end; first += stretch) {
      const size_t n = std::min(stretch, s.first + s.n - first);
      for (size_t j = 0; j < p_; ++j) columns[j] = column(j) + first;
      for (size_t space = begin; space < end; ++space) {
        const double* u = spaces.u + space * p_;
        const int64_t* place = spaces.place + space * p_;
        bool combined = false;
        for (size_t j = 0; j < p_; ++j) {
          if (place[j] < 0) continue;
          if (u[j] == 0.0) {
            use(static_cast<size_t>(place[j]), columns[j], range_of(columns[j], n), first, n);
            continue;
          }
          if (!combined) combine_columns(columns.data(), u, p_, xu, n);
          combined = true;
          const Range range = project_reflected(columns[j], xu, 2.0 * u[j], z, n);
          use(static_cast<size_t>(place[j]), z, range, first, n);
        }
        checkpoint(2 * p_ * n);
      }
    }
  }

  size_t p_, n_classes_;
  const Levels& levels_;
  std::vector<uint32_t> row_;  // position -> row of the input
  std::unique_ptr<double[]> own_;
  double* columns_;
  Vector weights_;
  std::vector<Segment> segments_;
};

}  // namespace oblique
