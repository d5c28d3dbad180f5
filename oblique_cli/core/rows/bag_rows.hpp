// The rows of a forest's node in the form that searches and heuristics use for every node.
#pragma once

#include <cstddef>
#include <vector>

#include "rows/gathered.hpp"
#include "split/bag.hpp"
#include "split/node_rows.hpp"

namespace oblique {

class BagRows {
 public:
  // unweighted : whether every row counts once
  const NodeRows& take(const Bag& bag, const Gathered& x, bool unweighted = false) {
    rows_.columns.clear();
    for (std::size_t j = 0; j < x.m; ++j) rows_.columns.push_back(x.column(j));
    rows_.weights = unweighted ? nullptr : bag.weight;
    rows_.n = bag.n;
    rows_.n_classes = static_cast<int>(bag.runs->size());
    offsets_.assign(1, 0);
    for (const ClassRun& run : *bag.runs) offsets_.push_back(offsets_.back() + run.n);
    rows_.first_row = offsets_.data();
    return rows_;
  }

 private:
  NodeRows rows_;
  std::vector<std::size_t> offsets_;
};

}  // namespace oblique
