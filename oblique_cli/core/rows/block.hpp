// A block of rows of many nodes, and the sums that passes over the rows of a tree compute from it.
// In a tree that grows from blocks, the rows of a node are never in memory together. Each pass computes the same sums,
// counts or extremes of the open nodes from every block; those of several blocks are added, or the extremes are
// combined, so neither the number of blocks nor their order changes the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/eigen.hpp"
#include "rows/exact_moments.hpp"
#include "tree/levels.hpp"

namespace oblique {

// Rows by columns: n values each, one column after the other. slot : index of the row's node among the open nodes,
// negative for a row of no open node.
struct RawRows {
  const double* columns;
  const std::int32_t* codes;
  const std::int32_t* slots;
  const double* weights;  // or nullptr if all are 1
  std::size_t n, p;
};

// The directions of every open node: those of the spaces first_space[slot] to first_space[slot + 1], whose axes are e_j
// - 2 u_j u; u = 0 is the original space. place[space * p + axis] : number of a direction to search, or -1.
struct SlotSpaces {
  const std::int64_t* first_space;
  const double* u;  // (n_spaces, p)
  const std::int64_t* place;
};

// The cells that `Block::look` examines, sorted by direction, bin and `from`: rows of bin bin[e] of direction
// direction[e], from from[e] to to[e]. They are counted in the parts first_part[e] to first_part[e + 1], of equal width
// starting at origin[e], or returned row by row if there are no parts. after[e] is the next bin that holds rows, or -1.
struct WantedCells {
  const std::int64_t* direction;
  const std::int32_t *bin, *after;
  const double *from, *to, *origin, *scale;
  const std::int64_t* first_part;  // (n + 1,)
  std::size_t n;
};

// Rows of each part by class, (classes, parts) of one cell after the other, as counts or, with weights, in `weighted`;
// and the range of each part.
struct PartTables {
  std::uint32_t* counts;
  double *weighted, *low, *high;
};

// Rows of wanted cells, equal rows joined.
struct GatheredRows {
  std::vector<std::int32_t> entry, code;
  std::vector<double> z, weight;
};

class Block {
 public:
  // scores : those of the levels in every slot, (n_slots, levels.width), or nullptr to leave codes of levels unchanged.
  // room : buffer of n * p numbers that outlives the block, or nullptr for an internal buffer
  Block(const RawRows& rows, std::size_t n_slots, std::size_t n_classes, const Levels& levels, const double* scores,
        double* room);

  std::size_t n_rows() const { return row_.size(); }

  // Rows, weight and heaviest row of every class in every slot, and the range of every feature there. A range without
  // rows stays unchanged. tables : weights of levels by slot and class, (n_slots, n_classes, width + features); the
  // last place of a feature is for cells without a level.
  struct Boxes {
    std::int64_t* rows;
    double *weight, *heaviest, *low, *high, *tables;
  };
  void add_boxes(const Boxes& out) const;

  // Frames by slot and class; frames with `inverse` < 0 are skipped.
  void add_moments(const double* center, const double* inverse, const double* unit, std::int64_t* high,
                   std::int64_t* low) const;
  void raise_squares(const double* mean, const double* inverse, const double* factor, double* largest) const;
  void add_unit_moments(const double* mean, const double* inverse, const double* factor, const double* least,
                        const double* unit, std::int64_t* high, std::int64_t* low) const;

  // Left weight by class of `n_planes` hyperplanes in each slot, by the arithmetic of prediction, (n_slots, n_planes,
  // n_classes). Slots with a NaN threshold are skipped.
  void add_left(const double* normals, const double* thresholds, std::size_t n_planes, double* left) const;

  // Rows by direction, class and bin, as counts or, with weights, in `weighted`; and the range of every direction.
  void add_histograms(const SlotSpaces& spaces, const double* low, const double* scale, int n_bins,
                      std::uint32_t* counts, double* weighted, double* least, double* largest) const;

  // smallest[e] : lowered to the smallest projection in bin after[e].
  GatheredRows look(const SlotSpaces& spaces, const double* low, const double* scale, int n_bins,
                    const WantedCells& wanted, const PartTables& parts, double* smallest) const;

  // Sends rows to the slots of the children of their node: to left_slot[s] if normal'x <= threshold. next : (n,) new
  // slots, in the order of the input. below, above : updated by the projections next to the threshold.
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
  // Calls use(direction, z, range, first row, n) for every searched direction of a segment, `stretch` rows at a time.
  template <class Use>
  void each_direction(const Segment& segment, const SlotSpaces& spaces, std::size_t stretch, Use use) const;

  std::size_t p_, n_classes_;
  const Levels& levels_;
  std::vector<std::uint32_t> row_;  // position -> row of the input
  std::unique_ptr<double[]> own_;
  double* columns_;
  Vector weights_;
  std::vector<Segment> segments_;
};

}  // namespace oblique
