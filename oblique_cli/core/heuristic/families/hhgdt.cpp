// HHGDT: the reflection of the normal of GDT's bisector (thesis 5.1, algorithm 8).
#include "common/eigen.hpp"
#include "heuristic/bisectors.hpp"
#include "heuristic/heuristic.hpp"
#include "split/spaces.hpp"

namespace oblique {
namespace {

class HHGDT final : public Proposer {
 public:
  explicit HHGDT(const Options& options)
      : bisector_(options.flag("bisector_by_super_classes")), tau_(options.number("tau")),
        sign_(options.number("sign")) {}

  void propose(const Node& node, Candidates& candidates) override {
    const Plane* plane = bisector_.find(node);
    if (!plane) return;
    Vector normal = plane->w;
    orient(normal.data(), normal.size(), sign_);
    add_reflections(normal, normal.size(), tau_, false, candidates.spaces());
  }
  bool reads_stretches() const override { return true; }

 private:
  BetterBisector bisector_;
  const double tau_, sign_;
};

const Registered hhgdt("hhgdt", {number("tau"), number("sign"), flag("bisector_by_super_classes")}, make<HHGDT>);

}  // namespace
}  // namespace oblique
