// The search for the best cut of a node whose rows lie in blocks: all blocks count rows by bins; bins that may contain
// the best cut are divided further until few rows are left, and only these rows are returned one by one.
#pragma once

#include "common/eigen.hpp"
#include "split/node_search.hpp"

namespace oblique {

// A request for the rows of one cell. A cell lies within a bin of a direction: the whole bin, or its rows from `from`
// to `to`. parts : number of parts for counting, by (z - origin) * scale; 0 to return the rows. after : the next bin
// with rows, whose smallest projection is requested; -1 if not needed.
struct Look {
  int64_t direction;
  int32_t bin, after;
  double from, to, origin, scale;
  int64_t parts;
};

// Memory for the answers to a request. few_rows : up to this number, rows are returned instead of counted again.
struct Room {
  double bytes, of_row, of_part, few_rows;
};

// Searches one node. Its cuts and their winner are those of NodeSearch for any choice of bins: the ranges of the
// directions alone decide which projections are distinct.
class SlotSearch {
 public:
  virtual ~SlotSearch() = default;

  // counts or weighted : (n_directions, n_codes, n_bins), which must not move; present : codes of the classes of the
  // node; order : ascending indices in the enumeration; least, largest : the range of each direction; low, scale : of
  // the bins; distinct : the gap above which two projections differ. rows : of the node
  struct Histograms {
    std::vector<int64_t> order;
    std::vector<int32_t> present;
    std::vector<double> least, largest, low, scale, distinct;
    const uint32_t* counts;
    const double* weighted;
    size_t n_codes, n_bins, rows;
  };
  // Selects the bins whose bound exceeds the value of every edge.
  virtual void begin(Histograms histograms) = 0;
  // The best open cells, as many as fit into memory but at least one if any is open; by direction, bin and `from`.
  virtual const std::vector<Look>& wanted(const Room& room) = 0;

  // The answers to `wanted`, in its order. Rows of cells, by entry; code : of classes. Parts of cells, one cell after
  // the other: counts by code and part, and the range of each part. smallest : smallest projection in bin `after`.
  struct Found {
    const int32_t *entry, *code;
    const double *z, *weight;
    size_t n;
    const uint32_t* counts;
    const double *weighted, *low, *high, *smallest;
  };
  virtual void take(const Found& hits) = 0;
  // Offers a cut with a fixed threshold: left weights by class.
  virtual void offer_cut(int64_t order, double threshold, const double* left, double least) = 0;
  virtual double gain(double value) const = 0;

  Cut winner() const { return front_.winner(); }

  SearchCounts counts;

 protected:
  Front front_;
};

std::unique_ptr<SlotSearch> make_slot_search(const SearchOptions& options, const Vector& of_class);

}  // namespace oblique
