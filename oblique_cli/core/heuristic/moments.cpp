#include "heuristic/moments.hpp"

#include "heuristic/class_moments.hpp"

namespace oblique {

void RowMoments::add_axes(const ClassAxes& axes, Vector& out) {
  if (axes.shrinkage) pooled_variances(pooled_);
  for (int k = 0; k < n_classes(); ++k) {
    if (!(axes.unit_rows ? unit_scatter(k, matrix_) : covariance(k, matrix_))) continue;
    if (axes.shrinkage) shrink(matrix_, pooled_, weight(k));
    principal_axes(eigen_, matrix_.data(), static_cast<int>(n_features()), axes.tolerance, axes.sign,
                   axes.dominant_only, out);
  }
}

}  // namespace oblique
