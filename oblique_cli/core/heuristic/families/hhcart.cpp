// HHCART: reflections of the eigenvectors of each class' covariance matrix (thesis 3.5, algorithm 3).
#include <cstddef>
#include <vector>

#include "common/eigen.hpp"
#include "common/team.hpp"
#include "heuristic/class_moments.hpp"
#include "heuristic/reflecting.hpp"

namespace oblique {
namespace {

// dominant_only : of every class its first eigenvector only
template <bool dominant_only>
class HHCART final : public Reflecting {
 public:
  explicit HHCART(const Options& options)
      : Reflecting(options), sign_(options.number("sign")), tolerance_(options.number("eigenvalue_tolerance")),
        shrinkage_(options.flag("shrinkage")) {}

 protected:
  void add_vectors(const Node& node, Vector& vectors) override {
    const NodeRows& rows = node.rows;
    if (!shrinkage_ && node.is_shared(node.n_features() * node.n_features() / 2)) return add_together(node, vectors);
    moments_.begin(node.spread.widest());
    if (shrinkage_) moments_.pooled_variances(rows, pooled_);
    for (int k = 0; k < rows.n_classes; ++k) {
      if (!shrinkage_) {
        moments_.add_axes(rows, rows.first_row[k], rows.first_row[k + 1], false, tolerance_, sign_, dominant_only,
                          vectors);
        continue;
      }
      // A covariance that was shrunk has full rank, so it does not lie in the span of the rows.
      if (!moments_.covariance(rows, rows.first_row[k], rows.first_row[k + 1], covariance_)) continue;
      shrink(covariance_, pooled_, node.search.totals().of_class[k]);
      principal_axes(eigen_, covariance_.data(), static_cast<int>(node.n_features()), tolerance_, sign_, dominant_only,
                     vectors);
    }
  }

 private:
  // The same on the threads of the team, a class at a time.
  void add_together(const Node& node, Vector& vectors) {
    const NodeRows& rows = node.rows;
    const std::size_t n_classes = static_cast<std::size_t>(rows.n_classes);
    std::vector<Vector> of_class(n_classes);
    const auto make_moments = [&] {
      ClassMoments moments;
      moments.begin(node.spread.widest());
      return moments;
    };
    node.team->share_with(n_classes, Team::Meanwhile::kWait, make_moments, [&](std::size_t k, ClassMoments& moments) {
      moments.add_axes(rows, rows.first_row[k], rows.first_row[k + 1], false, tolerance_, sign_, dominant_only,
                       of_class[k]);
    });
    for (const Vector& own : of_class) vectors.insert(vectors.end(), own.begin(), own.end());
  }

  const double sign_, tolerance_;
  const bool shrinkage_;
  ClassMoments moments_;
  SymmetricEigen eigen_;
  Vector covariance_, pooled_;
};

const auto options = {number("tau"), number("sign"), number("eigenvalue_tolerance"), flag("both_signs"),
                      flag("shrinkage")};

const Registered hhcart_a("hhcart_a", options, make<HHCART<false>>);
const Registered hhcart_d("hhcart_d", options, make<HHCART<true>>);

}  // namespace
}  // namespace oblique
