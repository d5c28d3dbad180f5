// The axes of the features: the classical tree (Breiman et al. 1984), and OC1-AP, which differs in its defaults only.
#include "heuristic/moments.hpp"

namespace oblique {
namespace {

class AxisParallel final : public SumsProposer {
 public:
  explicit AxisParallel(const Options&) {}

  using SumsProposer::propose;
  void propose(RowMoments&, Candidates& candidates) override { candidates.add_axes(); }
};

// The class weights are the only sums.
const Registered axis_parallel("axis_parallel", {}, make<AxisParallel>, false, false);
const Registered oc1_ap("oc1_ap", {}, make<AxisParallel>, false, false);

}  // namespace
}  // namespace oblique
