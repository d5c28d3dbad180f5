// OC1 and OC1-LC: the best axis-parallel split, or a hyperplane that hill climbing finds to be better.
#include <memory>

#include "growth/climbing/linear_combination.hpp"
#include "growth/climbing/oc1_climb.hpp"
#include "growth/heuristic.hpp"
#include "search/criteria.hpp"

namespace oblique {
namespace {

template <class Criterion, template <class> class Climb>
class HillClimbing final : public Heuristic {
 public:
  explicit HillClimbing(const Options& options) : climb_(options) { axes_.add_axes(); }

  bool split(const Node& node, Split& out) override {
    const bool found = search_.find(node, axes_, out);
    if (!is_better(node, found ? node.search.front().winner() : Cut{})) return found;
    out.normal.swap(better_.normal);
    out.threshold = better_.threshold;
    out.gain = Criterion::gain(value_, node.search.totals());
    out.given = true;
    return true;
  }

 private:
  // Looks for a hyperplane better than the axis-parallel cut `start`, in better_ and value_.
  bool is_better(const Node& node, const Cut& start) {
    const Totals& totals = node.search.totals();
    if (!(totals.n > climb_.rows_per_feature() * static_cast<double>(node.n_features()))) return false;
    MovingPlane<Criterion>& plane = climb_.plane;
    plane.begin(node);
    if (plane.features().empty()) return false;
    climb_.climb(node, start);
    if (!plane.has_kept() || !plane.settle(node, better_, value_)) return false;
    return start.order < 0 ? value_ > Criterion::base(totals) + Criterion::noise(totals)
                           : value_ > start.value + plane.slack(start.value);
  }

  Candidates axes_;
  CandidateSearch search_;
  Climb<Criterion> climb_;
  Split better_;
  double value_ = 0.0;
};

template <template <class> class Climb>
std::unique_ptr<Heuristic> make_climbing(const Options& options) {
  return with_criterion(options.choice("criterion"), [&]<class Criterion>() -> std::unique_ptr<Heuristic> {
    return std::make_unique<HillClimbing<Criterion, Climb>>(options);
  });
}

const Registered oc1("oc1", OC1Climb<Gini>::options(), make_climbing<OC1Climb>, true);
const Registered oc1_lc("oc1_lc", LinearCombination<Gini>::options(), make_climbing<LinearCombination>, true);

}  // namespace
}  // namespace oblique
