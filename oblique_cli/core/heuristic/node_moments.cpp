#include "heuristic/node_moments.hpp"

#include <vector>

#include "common/team.hpp"

namespace oblique {

void NodeMoments::add_axes(const ClassAxes& axes, Vector& out) {
  // A shrunk covariance has full rank, so it does not lie in the span of the rows.
  if (axes.shrinkage) return RowMoments::add_axes(axes, out);
  if (!node_->is_shared(n_features() * n_features() / 2)) {
    for (int k = 0; k < n_classes(); ++k) add_axes_of(k, axes, moments_, out);
    return;
  }
  std::vector<Vector> of_class(static_cast<std::size_t>(n_classes()));
  const auto make_moments = [&] {
    ClassMoments moments;
    moments.begin(node_->spread.widest());
    return moments;
  };
  node_->team->share_with(
      of_class.size(), Team::Meanwhile::kWait, make_moments,
      [&](std::size_t k, ClassMoments& moments) { add_axes_of(static_cast<int>(k), axes, moments, of_class[k]); });
  for (const Vector& moments : of_class) out.insert(out.end(), moments.begin(), moments.end());
}

void NodeMoments::add_axes_of(int k, const ClassAxes& axes, ClassMoments& moments, Vector& out) const {
  moments.add_axes(node_->rows, first(k), first(k + 1), axes.unit_rows, axes.tolerance, axes.sign, axes.dominant_only,
                   out);
}

}  // namespace oblique
