// Growth of whole trees in compiled code, for every registered family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/input_rows.hpp"
#include "common/team.hpp"
#include "grow/finish.hpp"
#include "grow/grower.hpp"
#include "heuristic/heuristic.hpp"
#include "rows/memory_rows.hpp"
#include "split/monotone.hpp"
#include "split/monotone_search.hpp"
#include "split/node.hpp"
#include "split/node_search.hpp"
#include "split/spread.hpp"
#include "tree/levels.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

StoppingRule stopping_of(const Options& options);

// Size in bytes up to which the whole table is copied. Tests lower it to cover the reading of single rows.
std::size_t copied_whole_up_to();
void set_copied_whole_up_to(std::size_t bytes);

// The caller's training rows, see WorkingRows.
struct Training {
  InputRows x;
  const std::int32_t* y;
  const double* weights;
  std::size_t n, n_classes;
  const Levels& levels;
  const Signs* signs = nullptr;  // monotone signs of the features, for two classes
};

// Counts the work of all searches of a tree.
class SearchTally {
 public:
  void add(const SearchCounts& counts) {
    const std::lock_guard lock(guard_);
    all_ += counts;
  }
  const SearchCounts& all() const { return all_; }

 private:
  std::mutex guard_;
  SearchCounts all_;
};

// A sampler that selects all rows and all features of every node.
class WholeNodes {
 public:
  using Place = MemoryRows::Place;
  using Found = Split;

  WholeNodes(MemoryRows& rows, const Options& options, const Signs* signs, Team& team, SearchTally& tally);
  ~WholeNodes() { tally_.add(counts_); }
  WholeNodes(const WholeNodes&) = delete;
  WholeNodes& operator=(const WholeNodes&) = delete;

  bool take(const Place& place, std::uint64_t path);
  // The selected node, for which the search has begun.
  Node node() {
    return {*rows_, spread_, view_.predicted(), *search_, options_, seed_, path_, &team_, signs_, bounds_};
  }
  void end_search(bool for_good);
  // Sends the rows of the node to their sides by the arithmetic of prediction. A threshold that the caller did not fix
  // is first moved to the middle of its gap in that arithmetic. False if a side is empty or if the children would
  // violate a monotone constraint.
  bool divide(const Place& place, Split& split, Place& left, Place& right);

  bool keeps_order() const { return signs_ != nullptr; }
  const Vector& level_scores() const { return view_.level_scores(); }

 private:
  MemoryRows& all_;
  NodeView view_;
  Team& team_;
  SearchTally& tally_;
  const Signs* const signs_;
  const SearchOptions options_;
  const std::uint64_t seed_;
  std::unique_ptr<NodeSearch> search_;
  const NodeRows* rows_ = nullptr;
  std::uint64_t path_ = kRootPath;
  Bounds bounds_;
  Spread spread_;
  Vector projection_;
  std::vector<unsigned char> goes_left_;
  std::vector<std::byte> room_;
  SearchCounts counts_;
};

// A heuristic followed by the finishing steps.
class FinishedSplits {
 public:
  FinishedSplits(const Family& family, const Options& options, const Finishing& finishing)
      : heuristic_(family.make(options)), finish_(search_of(options), finishing) {}

  bool find(WholeNodes& nodes, Split& split, bool& /* given_up */) {
    const Node node = nodes.node();
    split = Split{};
    if (nodes.keeps_order()) {
      candidates_.clear();
      heuristic_->propose(node, candidates_);
      return ordered_.find(node, candidates_, split);
    }
    return heuristic_->split(node, split) && finish_.apply(node, *heuristic_, split);
  }
  void end_search(bool for_good) {
    if (for_good) heuristic_.reset();
  }

 private:
  std::unique_ptr<Heuristic> heuristic_;
  Finish finish_;
  Candidates candidates_;
  MonotoneSearch ordered_;
};

using TreeSplitter = SplitterOf<WholeNodes, FinishedSplits>;
std::unique_ptr<TreeSplitter> tree_splitter(MemoryRows& rows, const Family& family, const Options& options,
                                            const Finishing& finishing, const Signs* signs, Team& team,
                                            SearchTally& tally);

// Grows one tree on the threads of a team: separate subtrees, and the directions of a large node. Every array of the
// tree is the same for any number of threads.
// searched : incremented by the work of all searches
GrownTree grow_tree(const Training& data, const Family& family, const Options& options, Team& team, SearchTally& tally);

}  // namespace oblique
