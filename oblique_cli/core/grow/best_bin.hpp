// The split of a node among directions whose rows lie in bins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grow/binned_directions.hpp"
#include "grow/drawn_nodes.hpp"

namespace oblique {

// Cuts between two bins of the features drawn, and of planes, each of which is drawn with the same probability as a
// feature; if none of them is better than no cut, of the next feature that has one. A cut is worth its Gini gain on the
// weights of the classes, or the fall of the sum of squares of the targets where there are some, over all outputs; the
// first of equals wins. Both are sums over the two sides of squares by weights: of each class, or of the weighted sum
// of the targets of each output.
class BestBin {
 public:
  // data : the rows that the directions are of
  BestBin(const TrainingRows& data, BinnedDirections& directions) : data_(data), directions_(directions) {}

  // round : of the next tree; min_leaf : least weight of a child in it
  void begin_tree(std::size_t round, double min_leaf) {
    round_ = round;
    min_leaf_ = min_leaf;
  }
  bool find(DrawnNodes& node, DrawnSplit& split, bool& given_up);
  void end_search(bool) {}

 private:
  // The bins of a direction that rows of the node may lie in, in their order.
  struct Bins {
    std::size_t n = 0;
    bool all = true;  // whether they are all bins of the direction, else those in of_place_
    std::size_t number(std::size_t place, const std::vector<std::uint8_t>& of_place) const {
      return all ? place : of_place[place];
    }
  };
  struct Best {
    bool is_found = false;
    std::size_t direction = 0, below = 0, above = 0;  // bins on both sides of the cut
    double value = 0.0;
  };

  void begin_node(const Bag& bag);
  void look(const Bag& bag, std::size_t direction);
  void add_classes(const Bag& bag, std::size_t n_bins);
  void add_targets(const Bag& bag, std::size_t n_bins);
  Bins place_rows(const Bag& bag, std::size_t direction);
  Bins leave_out_empty(std::size_t n);
  void take(const Bag& bag, DrawnNodes& node, DrawnSplit& split);

  const TrainingRows& data_;
  BinnedDirections& directions_;
  std::size_t round_ = 0;
  double min_leaf_ = 0.0;
  Best best_;
  double total_ = 0.0, uncut_ = 0.0;
  std::vector<double> of_class_;                   // weight of each class of the node, or sum of each output's targets
  std::vector<double> pull_;                       // weighted targets of the rows of the node, an output after another
  std::vector<std::uint8_t> place_, of_place_;     // of each row: its place among the bins; bin of each place
  std::vector<double> weight_;                     // classes by places
  std::vector<double> left_, squares_[2], value_;  // of the cut behind each place
};

}  // namespace oblique
