// GDT: the better bisector of two clustering hyperplanes (thesis 5.1, algorithm 7); HHGDT: its reflection (algorithm
// 8).
#include "heuristic/moments.hpp"

namespace oblique {
namespace {

// reflects : HHGDT, which searches along the axes of the reflection; else GDT, which takes the bisector itself
template <bool reflects>
class GDT final : public SumsProposer {
 public:
  explicit GDT(const Options& options)
      : super_classes_(options.flag("bisector_by_super_classes")), tau_(reflects ? options.number("tau") : 0.0),
        sign_(reflects ? options.number("sign") : 0.0) {}

  using SumsProposer::propose;
  Sums sums() const override { return Sums::origin; }
  void propose(RowMoments& moments, Candidates& candidates) override {
    const Plane* plane = moments.better_bisector(super_classes_);
    if (!plane) return;
    if (!reflects) return candidates.add_hyperplane(plane->w, plane->t);
    Vector normal = plane->w;
    orient(normal.data(), normal.size(), sign_);
    add_reflections(normal, normal.size(), tau_, false, candidates.spaces());
  }

 private:
  const bool super_classes_;
  const double tau_, sign_;
};

const Registered gdt("gdt", {flag("bisector_by_super_classes")}, make<GDT<false>>);
const Registered hhgdt("hhgdt", {number("tau"), number("sign"), flag("bisector_by_super_classes")}, make<GDT<true>>);

}  // namespace
}  // namespace oblique
