// HHCRV: reflections of the class representative vectors (thesis 5.3, algorithm 9).
#include "heuristic/moments.hpp"

namespace oblique {
namespace {

class HHCRV final : public Reflecting {
 public:
  explicit HHCRV(const Options& options)
      : Reflecting(options, {true, kZeroEigenvalue, options.number("sign"), true, false}) {}

 private:
  // Eigenvalues below this share of the largest count as zero; only the largest is used.
  static constexpr double kZeroEigenvalue = 1e-10;
};

const Registered hhcrv("hhcrv", {number("tau"), number("sign"), flag("both_signs")}, make<HHCRV>);

}  // namespace
}  // namespace oblique
