// The exact search for the best cut of one node: PlainSearch, or the tactics of FastSearch, with the same result.
#pragma once

#include "split/front.hpp"
#include "split/monotone.hpp"
#include "split/node_rows.hpp"

namespace oblique {

// Options of the search at a node.
struct SearchOptions {
  std::string criterion;                  // one of criterion_names(), or a registered one
  bool strict_ties = false;               // no tolerance between values, nor between projections
  double min_leaf = 1.0;                  // least weight on either side of a cut
  bool exhaustive = false;                // sort along every direction, compute every cut: slow, same result
  std::vector<std::string> without = {};  // tactics to leave out, for tests
};

// The work of a search, for tests and benchmarks.
struct SearchCounts {
  uint64_t directions = 0;  // directions offered
  uint64_t refined = 0;     // directions in which at least one bin had to be sorted
  uint64_t bins = 0;        // bins sorted

  SearchCounts& operator+=(const SearchCounts& more) {
    directions += more.directions;
    refined += more.refined;
    bins += more.bins;
    return *this;
  }
};

// Receives directions one after another, each with its number in the enumeration; the front holds the cuts that may
// still win. The calls are virtual, one per direction; the loops over rows are compiled for each criterion.
class NodeSearch {
 public:
  virtual ~NodeSearch() = default;

  // Begins a node, whose rows must not move.
  virtual void begin(const NodeRows& rows) = 0;
  // Discards the cuts of the node so far.
  virtual void restart() = 0;
  // A direction whose projections are z (n values). `distinct` is the gap above which two of them differ.
  virtual void direction(int64_t order, const double* z, double distinct) = 0;
  // A direction whose projections are x - c * w.
  virtual void reflected_direction(int64_t order, const double* x, const double* w, double c, double distinct) = 0;
  // A cut with a fixed threshold: left is z <= threshold, and both sides must have weight of at least `least`.
  virtual void fixed_cut(int64_t order, const double* z, double threshold, double least) = 0;
  // Whether the best cut so far is perfect, so that neither this direction nor a later one can beat it.
  virtual bool is_over(int64_t order) const = 0;
  // The published score of a cut of this value.
  virtual double gain(double value) const = 0;

  // Accepts only allowed cuts, for a node of two classes; `allowed` may change between directions. Needs an exhaustive
  // search: the others discard cuts because of better ones, which may not be allowed.
  void restrict_to(const AllowedCuts* allowed) { allowed_ = allowed; }

  // Merges the result of another search of the same node over other directions.
  void join(const NodeSearch& other) {
    for (const Cut& cut : other.front_.cuts()) front_.offer(cut.order, cut.threshold, cut.value);
    counts += other.counts;
  }
  // Receives the bar of another search, see Front::raise.
  void raise(double bar) { front_.raise(bar); }

  const Totals& totals() const { return totals_; }
  const Front& front() const { return front_; }

  SearchCounts counts;  // since `begin`

 protected:
  // Whether the cut with these class weights on its left is allowed.
  bool is_allowed(const double* left) const {
    if (!allowed_) return true;
    return allowed_->allow(second_share(left[0], left[1]),
                           second_share(totals_.of_class[0] - left[0], totals_.of_class[1] - left[1]));
  }

  Totals totals_;
  Front front_;

 private:
  const AllowedCuts* allowed_ = nullptr;
};

// Names of the core's own criteria, and of all tactics in their order.
const std::vector<std::string>& criterion_names();
const std::vector<std::string>& tactics();

std::unique_ptr<NodeSearch> make_search(const SearchOptions& options);

}  // namespace oblique
