// The axes of the features: the classical tree (Breiman et al. 1984), and OC1-AP, which has other defaults only.
#include "heuristic/heuristic.hpp"

namespace oblique {
namespace {

class AxisParallel final : public Proposer {
 public:
  explicit AxisParallel(const Options&) {}

  void propose(const Node&, Candidates& candidates) override { candidates.add_axes(); }
  bool reads_stretches() const override { return true; }
};

// Class weights are all that is added up.
const Registered axis_parallel("axis_parallel", {}, make<AxisParallel>, false, false);
const Registered oc1_ap("oc1_ap", {}, make<AxisParallel>, false, false);

}  // namespace
}  // namespace oblique
