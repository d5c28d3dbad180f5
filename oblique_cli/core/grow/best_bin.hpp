// The split of a node among binned directions.
#pragma once

#include "grow/binned_directions.hpp"
#include "grow/drawn_nodes.hpp"

namespace oblique {

// Candidates are the cuts between two bins of the drawn features, and of the planes, each of which is drawn with the
// same probability as a feature. If no candidate improves on the uncut node, the next feature with a better cut is
// used. The value of a cut is its Gini gain on the class weights or, if there are targets, the decrease of their sum of
// squares over all outputs; the first of equal cuts wins. Both are sums over the two sides of squares divided by
// weights: of each class, or of the weighted sum of the targets of each output.
class BestBin {
 public:
  // data : the training rows that the directions bin
  BestBin(const TrainingRows& data, BinnedDirections& directions) : data_(data), directions_(directions) {}

  // round : number of the next tree; min_leaf : least weight of a child
  void begin_tree(size_t round, double min_leaf) {
    round_ = round;
    min_leaf_ = min_leaf;
  }
  bool find(DrawnNodes& node, DrawnSplit& split, bool& given_up);
  void end_search(bool) {}

 private:
  // The bins of a direction that may hold rows of the node, in order.
  struct Bins {
    size_t n = 0;
    bool all = true;  // true: all bins of the direction; false: those in of_place_
    size_t number(size_t place, const std::vector<uint8_t>& of_place) const { return all ? place : of_place[place]; }
  };
  struct Best {
    bool is_found = false;
    size_t direction = 0, below = 0, above = 0;  // bins next to the cut on either side
    double value = 0.0;
  };

  void begin_node(const Bag& bag);
  void look(const Bag& bag, size_t direction);
  void add_classes(const Bag& bag, size_t n_bins);
  void add_targets(const Bag& bag, size_t n_bins);
  Bins place_rows(const Bag& bag, size_t direction);
  Bins leave_out_empty(size_t n);
  void take(const Bag& bag, DrawnNodes& node, DrawnSplit& split);

  const TrainingRows& data_;
  BinnedDirections& directions_;
  size_t round_ = 0;
  double min_leaf_ = 0.0;
  Best best_;
  double total_ = 0.0, uncut_ = 0.0;
  std::vector<double> of_class_;                   // weight of each class of the node, or sum of each output's targets
  std::vector<double> pull_;                       // weighted targets of the rows of the node, output by output
  std::vector<uint8_t> place_, of_place_;          // place of each row among the bins; bin of each place
  std::vector<double> weight_;                     // class weights by place
  std::vector<double> left_, squares_[2], value_;  // of the cut behind each place
};

}  // namespace oblique
