// OC1 and OC1-LC: the best axis-parallel split, or a better hyperplane from hill climbing; and these and OC1-AP as the
// program OC1 grows them.

#include "heuristic/climbing/linear_combination.hpp"
#include "heuristic/climbing/oc1_program.hpp"

namespace oblique {
namespace {

template <class HowToClimb>
class HillClimbing final : public Heuristic {
 public:
  explicit HillClimbing(const Options& options) : climb_(options) { axes_.add_axes(); }

  bool split(const Node& node, Split& out) override {
    const bool is_found = search_.find(node, axes_, out);
    if (!is_better(node, is_found ? node.search.front().winner() : Cut{})) return is_found;
    out.normal.swap(better_.normal);
    out.threshold = better_.threshold;
    out.gain = node.search.gain(value_);
    out.is_final = true;
    return true;
  }

  void propose(const Node& node, Candidates& candidates) override {
    Split climbed;
    if (split(node, climbed) && climbed.is_final)
      candidates.add_hyperplane(std::move(climbed.normal), climbed.threshold);
    else
      candidates.add_axes();
    node.search.restart();
  }

 private:
  // Searches for a hyperplane that is better than the axis-parallel cut `start`, in better_ and value_.
  bool is_better(const Node& node, const Cut& start) {
    const Totals& totals = node.search.totals();
    if (!(totals.n > climb_.rows_per_feature() * static_cast<double>(node.n_features()))) return false;
    MovingPlane& plane = climb_.plane;
    plane.begin(node);
    if (plane.features().empty()) return false;
    climb_.climb(node, start);
    if (!plane.has_kept() || !plane.settle(node, better_, value_)) return false;
    return start.order < 0 ? value_ > plane.base() + plane.noise() : value_ > start.value + plane.slack(start.value);
  }

  Candidates axes_;
  CandidateSearch search_;
  HowToClimb climb_;
  Split better_;
  double value_ = 0.0;
};

const Registered oc1("oc1",
                     {integer("restarts"), integer("jumps"), choice("order", {"sequential", "best", "r50"}),
                      number("stagnation"), choice("standardization", {"range", "none"}), flag("exact"),
                      flag("direct")},
                     make<HillClimbing<OC1Climb>>, true);
const Registered oc1_lc("oc1_lc",
                        {number("sweep_tol"), number("rows_per_feature"),
                         choice("standardization", {"deviation", "range", "none"}), flag("backward_elimination")},
                        make<HillClimbing<LinearCombination>>, true);
const Registered oc1_v3("oc1_v3",
                        {integer("restarts"), integer("jumps"), choice("order", {"sequential", "best", "r50"})},
                        make<OC1Program<ProgramSplits::oblique>>, true);
const Registered oc1_lc_v3("oc1_lc_v3", {}, make<OC1Program<ProgramSplits::linear_combinations>>, true);
const Registered oc1_ap_v3("oc1_ap_v3", {}, make<OC1Program<ProgramSplits::axes>>);

}  // namespace
}  // namespace oblique
