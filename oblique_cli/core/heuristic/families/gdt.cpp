// GDT: the better angle bisector of two clustering hyperplanes, with its offset (thesis 5.1, algorithm 7); and HHGDT:
// the reflection of its normal (algorithm 8).
#include "heuristic/moments.hpp"

namespace oblique {
namespace {

class GDT final : public SumsProposer {
 public:
  explicit GDT(const Options& options) : super_classes_(options.flag("bisector_by_super_classes")) {}

  using SumsProposer::propose;
  Sums sums() const override { return Sums::origin; }
  void propose(RowMoments& moments, Candidates& candidates) override {
    if (const Plane* plane = moments.better_bisector(super_classes_)) candidates.add_hyperplane(plane->w, plane->t);
  }

 private:
  const bool super_classes_;
};

class HHGDT final : public SumsProposer {
 public:
  explicit HHGDT(const Options& options)
      : super_classes_(options.flag("bisector_by_super_classes")), tau_(options.number("tau")),
        sign_(options.number("sign")) {}

  using SumsProposer::propose;
  Sums sums() const override { return Sums::origin; }
  void propose(RowMoments& moments, Candidates& candidates) override {
    const Plane* plane = moments.better_bisector(super_classes_);
    if (!plane) return;
    Vector normal = plane->w;
    orient(normal.data(), normal.size(), sign_);
    add_reflections(normal, normal.size(), tau_, false, candidates.spaces());
  }

 private:
  const bool super_classes_;
  const double tau_, sign_;
};

const Registered gdt("gdt", {flag("bisector_by_super_classes")}, make<GDT>);
const Registered hhgdt("hhgdt", {number("tau"), number("sign"), flag("bisector_by_super_classes")}, make<HHGDT>);

}  // namespace
}  // namespace oblique
