// The forests of Zhang & Suganthan (2014): the better of the two bisectors of the hyper-classes.
#include "heuristic/mpsvm.hpp"

#include "heuristic/forest_split.hpp"

namespace oblique {
namespace {

class MpsvmForest final : public ForestHeuristic {
 public:
  explicit MpsvmForest(const ForestTraits& traits) {
    const std::string& rule = traits.options.choice("regularization");
    rule_ = rule == "tikhonov" ? Regularization::tikhonov
            : rule == "axis"   ? Regularization::axis
                               : Regularization::null_space;
    mpsvm_.configure(rule_, traits.options.number("delta"));
  }

  void propose(const BagNode& node, Proposal& proposal) override {
    bool singular = false;
    if (!mpsvm_.find(node.bag, node.x, proposal.planes, singular)) proposal.planes.clear();
    proposal.axes_below = singular && rule_ == Regularization::axis;
  }

 private:
  Regularization rule_;
  MpsvmSplit mpsvm_;
};

const RegisteredSplit mpsvm("mpsvm", {choice("regularization", {"tikhonov", "axis", "null"}), number("delta")},
                            make_forest<MpsvmForest>);

}  // namespace
}  // namespace oblique
