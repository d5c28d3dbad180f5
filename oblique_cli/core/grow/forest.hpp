// Forests, on several threads. Tree number t depends on the data, the seed and t alone, not on the number of threads.
#pragma once

#include "grow/forest_options.hpp"
#include "rows/training_rows.hpp"

namespace oblique {

uint64_t seed_of_tree(uint64_t seed, size_t tree);

class Forest {
 public:
  size_t n_features = 0, n_classes = 0;
  uint64_t seed = 0;
  std::vector<ForestTree> trees;
  size_t first_number = 0;           // of trees[0]; above 0 in a part of a forest that is grown elsewhere
  std::atomic<size_t> finished = 0;  // complete trees of the current or last growth; any thread may read it

  void grow(TrainingRows& data, const ForestOptions& options, size_t more, int n_threads);

  // Adds trees that predict data.targets, with bins (grow/histogram_grower.hpp). min_leaf : least weight of a child
  void grow_numbers(TrainingRows& data, const ForestOptions& options, size_t max_bins, double min_leaf, size_t more,
                    int n_threads);

  // Adds every tree's vote to votes (n, n_classes): 1 for the label of a row's leaf, or the class shares there.
  void vote(const double* x, size_t n, bool shares, int n_threads, double* votes) const;

  // Votes on the training rows by the trees that did not draw them. rows : the rule by which trees draw rows
  void vote_out_of_bag(const double* x, size_t n, const RowDraw& rows, bool shares, int n_threads, double* votes) const;

  // How often each of n rows is drawn for each of the next `more` trees, (more, n).
  std::vector<uint32_t> draws(size_t n, size_t more, const RowDraw& rows) const;

  // Adds to sums (n, width) the values (all leaves of all trees, width) of the leaves that each row reaches.
  void sum(const double* x, size_t n, const double* values, size_t width, int n_threads, double* sums) const;

  // Adds to sums (n,) the predictions of the linear models of the leaves. models (all leaves of all trees, n_features +
  // 3) : a coefficient for each feature, the intercept, and the least and the largest prediction of the leaf
  void sum_models(const double* x, size_t n, const double* models, int n_threads, double* sums) const;

  // Node number of each row's leaf in every tree, (n, n_trees).
  void apply(const double* x, size_t n, int n_threads, int32_t* leaves) const;

 private:
  std::vector<size_t> first_leaves() const;
  template <class Make>
  void add_trees(size_t more, int n_threads, Make make);
  template <class Use>
  void blocks(const double* x, size_t n, int n_threads, Use use) const;
  void add_vote(const ForestTree& tree, int32_t node, bool shares, double* votes) const;
};

}  // namespace oblique
