// The search for the best cut of a node whose rows lie in blocks: bins are counted by all blocks, and only the rows of
// bins that can still win are fetched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/eigen.hpp"
#include "search/front.hpp"
#include "search/node_search.hpp"

namespace oblique {

// A bin that may hold the best cut, or have it at its right edge. after : the next bin that holds rows, or -1
struct OpenBin {
  std::size_t direction;
  std::int32_t bin, after;
  double rows, bound;
};

// Searches one node. The cuts it finds, and the winner among them, are those of NodeSearch, whichever bins it is given:
// where two projections count as distinct is decided by the ranges of the directions alone.
class SlotSearch {
 public:
  virtual ~SlotSearch() = default;

  // counts : (n_directions, n_classes, n_bins) weights of the classes present; order : rising places in the
  // enumeration; least, largest : the range of each direction; distinct : the gap above which two projections differ.
  struct Histograms {
    std::vector<std::int64_t> order;
    std::vector<double> counts, least, largest, distinct;
    std::size_t n_bins, rows;  // rows : of the node
  };
  // Keeps the histograms, and the bins that no edge between two bins beats.
  virtual void begin(Histograms given) = 0;
  // The best of the bins that can still win, of at most `most_rows` in all, but at least one; none if all are done.
  virtual std::vector<OpenBin> wanted(double most_rows) = 0;
  // All rows of a wanted bin, in any order. code : place of the class among those present; next : smallest
  // projection beyond, infinite if there is none.
  virtual void offer(std::size_t direction, std::int32_t bin, const double* z, const std::int32_t* code,
                     const double* weight, std::size_t n, double next) = 0;
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
