// HHCART: reflections of the eigenvectors of each class' covariance matrix (thesis 3.5, algorithm 3).
#include "heuristic/moments.hpp"

namespace oblique {
namespace {

// dominant_only : use only the first eigenvector of each class
template <bool dominant_only>
class HHCART final : public Reflecting {
 public:
  explicit HHCART(const Options& options)
      : Reflecting(options, {false, options.number("eigenvalue_tolerance"), options.number("sign"), dominant_only,
                             options.flag("shrinkage")}) {}
};

const auto options = {number("tau"), number("sign"), number("eigenvalue_tolerance"), flag("both_signs"),
                      flag("shrinkage")};

const Registered hhcart_a("hhcart_a", options, make<HHCART<false>>);
const Registered hhcart_d("hhcart_d", options, make<HHCART<true>>);

}  // namespace
}  // namespace oblique
