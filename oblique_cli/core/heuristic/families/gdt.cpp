// GDT: the better angle bisector of two clustering hyperplanes, offset and all (thesis 5.1, algorithm 7).
#include "heuristic/bisectors.hpp"
#include "heuristic/heuristic.hpp"

namespace oblique {
namespace {

class GDT final : public Proposer {
 public:
  explicit GDT(const Options& options) : bisector_(options.flag("bisector_by_super_classes")) {}

  void propose(const Node& node, Candidates& candidates) override {
    if (const Plane* plane = bisector_.find(node)) candidates.add_hyperplane(plane->w, plane->t);
  }
  bool reads_stretches() const override { return true; }

 private:
  BetterBisector bisector_;
};

const Registered gdt("gdt", {flag("bisector_by_super_classes")}, make<GDT>);

}  // namespace
}  // namespace oblique
