// FDT: the threshold is searched along Fisher's direction of the largest class against the rest (thesis 2.3).

#include "heuristic/bisectors.hpp"
#include "heuristic/discriminant.hpp"
#include "heuristic/heuristic.hpp"

namespace oblique {
namespace {

class FDT final : public Proposer {
 public:
  explicit FDT(const Options&) {}

  void propose(const Node& node, Candidates& candidates) override {
    discriminant_.begin(node, Discriminant::kZeroEigenvalue);
    Group first(static_cast<size_t>(node.rows.n_classes), 0);
    first[majority(node.search.totals())] = 1;
    if (discriminant_.direction(first, normal_))
      candidates.add_direction(discriminant_.standard().unit_normal(normal_));
  }

 private:
  Discriminant discriminant_;
  Vector normal_;
};

const Registered fdt("fdt", {}, make<FDT>);

}  // namespace
}  // namespace oblique
