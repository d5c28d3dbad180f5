// Whole trees grown without Python, by any registered family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/input_rows.hpp"
#include "common/team.hpp"
#include "grow/finish.hpp"
#include "grow/top_down.hpp"
#include "heuristic/heuristic.hpp"
#include "rows/working_rows.hpp"
#include "split/node.hpp"
#include "split/node_search.hpp"
#include "split/spread.hpp"
#include "tree/levels.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

StoppingRule stopping_of(const Options& options);

// The bytes up to which a table is copied as a whole. Tests lower it, to see rows read from a small table.
std::size_t copied_whole_up_to();
void set_copied_whole_up_to(std::size_t bytes);

// Training rows as the caller has them, see WorkingRows.
struct Training {
  InputRows x;
  const std::int32_t* y;
  const double* weights;
  std::size_t n, n_classes;
  const Levels& levels;
};

// Splits nodes of one tree by a heuristic; each thread has its own.
class Splitter {
 public:
  Splitter(const WorkingRows& rows, const Family& family, const Options& options, const Finishing& finishing,
           Team& team);

  // Finds the split of rows [first, last), its threshold final; false if there is none with rows on both sides. After
  // it, `goes_left` says where every row of the node goes. block : where the rows are copied to, or nullptr, for one
  // node only: to divide so many rows, the room of their search is given back.
  bool split(std::size_t first, std::size_t last, const RowBlock* block, std::uint64_t path, Split& out);

  const Vector& level_scores() const { return view_.level_scores(); }
  const std::vector<unsigned char>& goes_left() const { return goes_left_; }
  // For whoever moves the rows then.
  std::vector<std::byte>& room() { return room_; }
  // The work of all searches so far.
  const SearchCounts& counts() const { return counts_; }

 private:
  bool divides(const Node& node, Split& split);

  NodeView view_;
  Team& team_;
  const SearchOptions options_;
  const std::uint64_t seed_;
  std::unique_ptr<Heuristic> heuristic_;
  Finish finish_;
  std::unique_ptr<NodeSearch> search_;
  Spread spread_;
  Vector projection_;
  std::vector<unsigned char> goes_left_;
  std::vector<std::byte> room_;
  SearchCounts counts_;
};

// Grows one tree on the threads of a team: subtrees apart from each other, and the directions of a large node. Every
// array of the tree is the same for any number of threads.
class Grower {
 public:
  Grower(const Training& data, const Family& family, const Options& options, Team& team);
  GrownTree grow();
  // The work of all searches.
  const SearchCounts& searched() const { return searched_; }

 private:
  struct Open {
    std::int32_t node;
    std::size_t first, last;
    std::int64_t depth;
    std::uint64_t path;
    std::vector<double> counts;       // weight of each class
    std::shared_ptr<RowBlock> block;  // where its rows are copied to, if they are
  };

  bool is_leaf(const Open& open) const;
  void grow_below(Open root);
  bool visit(Open& open, Splitter& kept, Open& left, Open& right);
  std::size_t most_copied() const;
  std::vector<double> counts_of(std::size_t first, std::size_t last) const;
  std::int32_t add_node(const std::vector<double>& counts, std::size_t n_rows);
  std::unique_ptr<Splitter> take_splitter();
  void give_back(std::unique_ptr<Splitter> splitter);

  const Training data_;
  const Family& family_;
  const Options& options_;
  const StoppingRule stopping_;
  const Finishing finishing_;
  Team& team_;
  WorkingRows rows_;
  const std::size_t most_copied_;
  std::mutex guard_;  // of what follows
  GrownTree tree_;
  SearchCounts searched_;
  std::vector<std::unique_ptr<Splitter>> splitters_;  // those that no thread uses just now
};

}  // namespace oblique
