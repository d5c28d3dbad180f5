// HHCRV: reflections of the class representative vectors (thesis 5.3, algorithm 9).
#include "common/eigen.hpp"
#include "heuristic/class_moments.hpp"
#include "heuristic/reflecting.hpp"

namespace oblique {
namespace {

class HHCRV final : public Reflecting {
 public:
  explicit HHCRV(const Options& options) : Reflecting(options), sign_(options.number("sign")) {}

 protected:
  void add_vectors(const Node& node, Vector& vectors) override {
    const NodeRows& rows = node.rows;
    moments_.begin(node.spread.widest());
    for (int k = 0; k < rows.n_classes; ++k)
      moments_.add_axes(rows, rows.first_row[k], rows.first_row[k + 1], true, kZeroEigenvalue, sign_, true, vectors);
  }

 private:
  // An eigenvalue below this share of the largest would count as zero; only the largest is of interest.
  static constexpr double kZeroEigenvalue = 1e-10;

  const double sign_;
  ClassMoments moments_;
};

const Registered hhcrv("hhcrv", {number("tau"), number("sign"), flag("both_signs")}, make<HHCRV>);

}  // namespace
}  // namespace oblique
