// Whole trees grown without Python, by any registered family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "growth/finish.hpp"
#include "growth/heuristic.hpp"
#include "growth/tree_arrays.hpp"
#include "growth/working_rows.hpp"
#include "search/node.hpp"
#include "search/node_search.hpp"
#include "search/spread.hpp"
#include "tree/levels.hpp"

namespace oblique {

// When a node is a leaf without a search.
struct StoppingRule {
  double min_parent = 2.0;      // split only if the node holds more than this
  double max_misrate = 0.0;     // split only if the misclassification rate is above this
  std::int64_t max_depth = -1;  // -1: no limit

  bool holds(const double* counts, std::size_t n_classes, std::int64_t depth) const;
};

StoppingRule stopping_of(const Options& options);

// Training rows as the caller has them, see WorkingRows.
struct Training {
  const double* x;
  const std::int32_t* y;
  const double* weights;
  std::size_t n, n_classes;
  const Levels& levels;
};

// Splits nodes of one tree by a heuristic.
class Splitter {
 public:
  Splitter(const Training& data, const Family& family, const Options& options, const Finishing& finishing);

  // Finds the split of rows [first, last), its threshold final; false if there is none with rows on both sides. After
  // it, `goes_left` says where every row of the node goes.
  bool split(std::size_t first, std::size_t last, std::uint64_t path, Split& out);

  WorkingRows& rows() { return rows_; }
  const std::vector<unsigned char>& goes_left() const { return goes_left_; }
  // The work of all searches so far.
  const SearchCounts& counts() const { return counts_; }

 private:
  bool divides(std::size_t n, Split& split);

  WorkingRows rows_;
  const SearchOptions options_;
  const std::uint64_t seed_;
  std::unique_ptr<Heuristic> heuristic_;
  Finish finish_;
  std::unique_ptr<NodeSearch> search_;
  Spread spread_;
  Vector projection_;
  std::vector<unsigned char> goes_left_;
  SearchCounts counts_;
};

// Grows one tree.
class Grower {
 public:
  Grower(const Training& data, const Family& family, const Options& options);
  TreeArrays grow();

 private:
  struct Open {
    std::int32_t node;
    std::size_t first, last;
    std::int64_t depth;
    std::uint64_t path;
  };

  std::int32_t add_node(std::size_t first, std::size_t last);
  bool visit(const Open& open, std::size_t& middle);

  const Training data_;
  const StoppingRule stopping_;
  Splitter splitter_;
  Split split_;
  TreeArrays tree_;
};

}  // namespace oblique
