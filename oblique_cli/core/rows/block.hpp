// A block of rows of many nodes, and what every pass over the rows of a tree wants of it.
//
// A tree that is grown from blocks never has all rows of a node at hand. Each pass asks every block for the same sums,
// counts or extremes of its open nodes; answers of blocks are added up, or the larger one is taken, so that neither the
// number of blocks nor their order changes anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/eigen.hpp"
#include "rows/exact_moments.hpp"
#include "tree/levels.hpp"

namespace oblique {

// Rows as they come: columns of n values each, one after the other. slot : place of the row's node among the open
// nodes, below 0 for a row of none.
struct RawRows {
  const double* columns;
  const std::int32_t* codes;
  const std::int32_t* slots;
  const double* weights;  // or nullptr when all are 1
  std::size_t n, p;
};

// The directions of every open node: those of the spaces first_space[slot] to first_space[slot + 1], whose axes are
// e_j - 2 u_j u; u = 0 is the original space. place[space * p + axis] : number of a direction that is searched, or -1.
struct SlotSpaces {
  const std::int64_t* first_space;
  const double* u;  // (n_spaces, p)
  const std::int64_t* place;
};

// What `Block::look` is after, in the order of direction, bin and `from`: rows of bin bin[e] of direction direction[e],
// from from[e] to to[e]. They are counted in the parts first_part[e] to first_part[e + 1], of equal width from
// origin[e] on, or fetched if there are none. after[e] is the next bin that holds rows, or -1.
struct WantedCells {
  const std::int64_t* direction;
  const std::int32_t *bin, *after;
  const double *from, *to, *origin, *scale;
  const std::int64_t* first_part;  // (n + 1,)
  std::size_t n;
};

// Rows of each part by class, (classes, parts) of one cell after the other, in counts or, with weights, in `weighted`;
// and the range of each part.
struct PartTables {
  std::uint32_t* counts;
  double *weighted, *low, *high;
};

// Rows of wanted cells, equal ones joined.
struct GatheredRows {
  std::vector<std::int32_t> entry, code;
  std::vector<double> z, weight;
};

class Block {
 public:
  // scores : those of the levels in every slot, (n_slots, levels.width), or nullptr to leave codes of levels as they
  // are. room : for n * p numbers, which the block uses as long as it is there, or nullptr for room of its own
  Block(const RawRows& rows, std::size_t n_slots, std::size_t n_classes, const Levels& levels, const double* scores,
        double* room);

  std::size_t n_rows() const { return row_.size(); }

  // Rows, weight and heaviest row of every class in every slot, and the range of every feature there. A range without
  // rows is left as it is. tables : weights of levels by slot and class, (n_slots, n_classes, width + features); the
  // last place of a feature is for cells without a level.
  struct Boxes {
    std::int64_t* rows;
    double *weight, *heaviest, *low, *high, *tables;
  };
  void add_boxes(const Boxes& out) const;

  // Frames by slot and class; those of `inverse` < 0 are passed over.
  void add_moments(const double* center, const double* inverse, const double* unit, std::int64_t* high,
                   std::int64_t* low) const;
  void raise_squares(const double* mean, const double* inverse, const double* factor, double* largest) const;
  void add_unit_moments(const double* mean, const double* inverse, const double* factor, const double* least,
                        const double* unit, std::int64_t* high, std::int64_t* low) const;

  // Left weight by class of `n_planes` hyperplanes a slot, by the arithmetic of prediction, (n_slots, n_planes,
  // n_classes). Slots of a NaN threshold are passed over.
  void add_left(const double* normals, const double* thresholds, std::size_t n_planes, double* left) const;

  // Rows by direction, class and bin, in counts or, with weights, in `weighted`; and the range of every direction.
  void add_histograms(const SlotSpaces& spaces, const double* low, const double* scale, int n_bins,
                      std::uint32_t* counts, double* weighted, double* least, double* largest) const;

  // smallest[e] : lowered to the smallest projection in bin after[e].
  GatheredRows look(const SlotSpaces& spaces, const double* low, const double* scale, int n_bins,
                    const WantedCells& wanted, const PartTables& parts, double* smallest) const;

  // Sends rows to the slots of the children of their node: to left_slot[s] where normal'x <= threshold. next : (n,) of
  // the rows as they came. below, above : raised and lowered to the projections next to the threshold.
  void route(const double* normals, const double* thresholds, const std::int32_t* left_slot,
             const std::int32_t* right_slot, std::int32_t* next, double* below, double* above) const;

 private:
  struct Segment {
    std::size_t slot, code, first, n;
  };
  const double* column(std::size_t j) const { return columns_ + j * row_.size(); }
  FramedRows framed(const Segment& segment, std::vector<const double*>& columns, double unit) const;
  // z = normal'x for some rows, by the arithmetic of dot_row.
  void project(const double* normal, std::size_t first, std::size_t n, double* z) const;
  // use(direction, z, range, first row, n) for every direction of a segment that is searched, `stretch` rows at a time.
  template <class Use>
  void each_direction(const Segment& segment, const SlotSpaces& spaces, std::size_t stretch, Use use) const;

  std::size_t p_, n_classes_;
  const Levels& levels_;
  std::vector<std::uint32_t> row_;  // place -> row as it came
  std::unique_ptr<double[]> own_;
  double* columns_;
  Vector weights_;
  std::vector<Segment> segments_;
};

}  // namespace oblique
