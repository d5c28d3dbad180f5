// The search for the best cut of a node whose rows lie in blocks: bins are counted by all blocks, those that can still
// win are divided finely until few rows are left, and only these rows are fetched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/eigen.hpp"
#include "split/front.hpp"
#include "split/node_search.hpp"

namespace oblique {

// What is asked of the rows of one cell. A cell lies within a bin of a direction: it is the whole bin, or the rows of
// it from `from` to `to`. parts : into so many parts its rows are to be counted, by (z - origin) * scale; 0 to fetch
// them. after : the next bin that holds rows, whose smallest projection is asked for; -1 if none is.
struct Look {
  std::size_t direction;
  std::int32_t bin, after;
  double from, to, origin, scale;
  std::int32_t parts;
};

// Room for the answers to what is asked at a time. few_rows : so many are fetched rather than counted once more.
struct Room {
  double bytes, of_row, of_part, few_rows;
};

// Searches one node. The cuts it finds, and the winner among them, are those of NodeSearch, whichever bins it is given:
// where two projections count as distinct is decided by the ranges of the directions alone.
class SlotSearch {
 public:
  virtual ~SlotSearch() = default;

  // counts or weighted : (n_directions, n_codes, n_bins), which must stay where they are; present : codes of the
  // classes of the node; order : rising places in the enumeration; least, largest : the range of each direction; low,
  // scale : how it is cut into bins; distinct : the gap above which two projections differ. rows : of the node
  struct Histograms {
    std::vector<std::int64_t> order;
    std::vector<std::int32_t> present;
    std::vector<double> least, largest, low, scale, distinct;
    const std::uint32_t* counts;
    const double* weighted;
    std::size_t n_codes, n_bins, rows;
  };
  // Looks for the bins that no edge between two bins beats.
  virtual void begin(Histograms histograms) = 0;
  // The best of the cells that can still win, as many as there is room for, but at least one; none if all are done.
  // In the order of direction, bin and `from`.
  virtual const std::vector<Look>& wanted(const Room& room) = 0;

  // The answers to what was wanted, in its order. Rows of cells, by entry; code : of classes. Parts of cells, one cell
  // after the other: counts by code and part, and the range of each part. smallest : of the bin after.
  struct Found {
    const std::int32_t *entry, *code;
    const double *z, *weight;
    std::size_t n;
    const std::uint32_t* counts;
    const double *weighted, *low, *high, *smallest;
  };
  virtual void take(const Found& hits) = 0;
  // A cut that is given: left weights by class.
  virtual void offer_cut(std::int64_t order, double threshold, const double* left, double least) = 0;
  virtual double gain(double value) const = 0;

  Cut winner() const { return front_.winner(); }

  SearchCounts counts;

 protected:
  Front front_;
};

std::unique_ptr<SlotSearch> make_slot_search(const SearchOptions& options, const Vector& of_class);

}  // namespace oblique
