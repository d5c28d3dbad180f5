// Reflections of the principal axes of each class: HHCART, of its covariance matrix (thesis 3.5, algorithm 3), and
// HHCRV, of its representative vectors (thesis 5.3, algorithm 9).
#include "heuristic/moments.hpp"

namespace oblique {
namespace {

// Reflects the principal axes of the classes to the first axis and searches all axes of every space (thesis 3.5);
// without principal axes it searches the original axes (3.6). Its options are tau, the tolerance for a vector parallel
// to an axis, and both_signs, for the reflections of the opposite vectors as well.
class Reflecting : public SumsProposer {
 public:
  Reflecting(const Options& options, const ClassAxes& axes)
      : axes_(axes), tau_(options.number("tau")), both_signs_(options.flag("both_signs")) {}

  using SumsProposer::propose;
  Sums sums() const final { return axes_.unit_rows ? Sums::unit_rows : Sums::covariances; }
  void propose(RowMoments& moments, Candidates& candidates) final {
    vectors_.clear();
    moments.add_axes(axes_, vectors_);
    add_reflections(vectors_, moments.n_features(), tau_, both_signs_, candidates.spaces());
    if (candidates.spaces().empty()) candidates.add_axes();
  }

 private:
  const ClassAxes axes_;
  const double tau_;
  const bool both_signs_;
  Vector vectors_;
};

// dominant_only : use only the first eigenvector of each class
template <bool dominant_only>
class HHCART final : public Reflecting {
 public:
  explicit HHCART(const Options& options)
      : Reflecting(options, {false, options.number("eigenvalue_tolerance"), options.number("sign"), dominant_only,
                             options.flag("shrinkage")}) {}
};

class HHCRV final : public Reflecting {
 public:
  explicit HHCRV(const Options& options)
      : Reflecting(options, {true, kZeroEigenvalue, options.number("sign"), true, false}) {}

 private:
  static constexpr double kZeroEigenvalue = 1e-10;  // share of the largest eigenvalue, the only one that is used
};

const auto options = {number("tau"), number("sign"), number("eigenvalue_tolerance"), flag("both_signs"),
                      flag("shrinkage")};

const Registered hhcart_a("hhcart_a", options, make<HHCART<false>>);
const Registered hhcart_d("hhcart_d", options, make<HHCART<true>>);
const Registered hhcrv("hhcrv", {number("tau"), number("sign"), flag("both_signs")}, make<HHCRV>);

}  // namespace
}  // namespace oblique
