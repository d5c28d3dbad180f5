// Rows of a single tree that is grown from a table in memory.
#pragma once

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "rows/held.hpp"
#include "rows/working_rows.hpp"
#include "split/monotone.hpp"

namespace oblique {

class MemoryRows : public WorkingRows {
 public:
  struct Place {
    size_t first = 0, last = 0;
    std::vector<double> counts;       // weight of each class
    std::shared_ptr<RowBlock> block;  // copy of the rows, if there is one
    Bounds bounds = {};               // of the predictions there
  };

  // most_copied : rows of the largest node whose values are copied; larger nodes use WorkingRows directly
  MemoryRows(const InputRows& x, const int32_t* y, const double* weights, size_t n, size_t n_classes,
             const Levels& levels, bool canonical, size_t most_copied)
      : WorkingRows(x, y, weights, n, levels, canonical), n_classes_(n_classes), most_copied_(most_copied), n_all_(n) {
    if (most_copied < n) trim_memory();
  }

  // All rows. They are copied first, because weights are summed in the order of the copy.
  Place root(Team& team) {
    std::shared_ptr<RowBlock> block = n_all_ <= most_copied_ ? copy(0, n_all_, team) : nullptr;
    return place(0, n_all_, std::move(block));
  }

  size_t size(const Place& place) const { return place.last - place.first; }
  Held begin(const Place& place) const { return held_of(place.counts.data(), n_classes_); }
  void take(Place& place, Team* team) {
    if (!place.block && size(place) <= most_copied_) place.block = copy(place.first, place.last, *team);
  }
  // The buffers of a node with too many rows to be copied must be freed after it.
  bool is_passing(const Place& place) const { return !place.block; }
  void leave(const Place& place) const {
    if (size(place) > most_copied_) trim_memory();
  }

  // Divides the rows of a node. room : a reusable buffer
  void divide(const Place& node, const unsigned char* goes_left, Team& team, std::vector<std::byte>& room, Place& left,
              Place& right) {
    const size_t middle = node.first + static_cast<size_t>(std::count(goes_left, goes_left + size(node), 1));
    partition(node.first, node.last, goes_left, node.block.get(), team, room);
    left = place(node.first, middle, node.block);
    right = place(middle, node.last, node.block);
  }

 private:
  // Returns freed memory to the system. The allocator of glibc keeps some of the size of the present blocks.
  static void trim_memory() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
  }

  Place place(size_t first, size_t last, std::shared_ptr<RowBlock> block) const {
    Place out{first, last, std::vector<double>(n_classes_, 0.0), std::move(block), {}};
    for_each_class(first, last, [&](int32_t code, size_t begin, size_t end) {
      out.counts[code] =
          weights() ? std::accumulate(weights() + begin, weights() + end, 0.0) : static_cast<double>(end - begin);
    });
    return out;
  }

  const size_t n_classes_, most_copied_, n_all_;
};

}  // namespace oblique
