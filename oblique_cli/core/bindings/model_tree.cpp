// Python bindings of row-wise least squares.
#include "bindings/bindings.hpp"
#include "model_tree/direction_cuts.hpp"
#include "model_tree/pilot_models.hpp"

namespace oblique {
namespace {

nb::object prefix_rss_of(const Matrix& rows,
                         const nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& cuts,
                         double zero, size_t targets) {
  const size_t n = rows.shape(0), m = rows.shape(1), n_cuts = cuts.shape(0);
  require(targets >= 1 && m >= targets, "rows must have at least the columns of the targets");
  for (size_t c = 0; c < n_cuts; ++c)
    require(cuts(c) >= (c ? cuts(c - 1) : 0) && cuts(c) <= static_cast<int64_t>(n), "cuts must rise from 0 to n");
  std::vector<double> out =
      without_lock([&] { return prefix_rss(rows.data(), m, targets, cuts.data(), n_cuts, zero); });
  return array(std::move(out));
}

nb::tuple cuts_along(const Matrix& x, const Matrix& directions, const std::optional<Doubles>& fixed_thresholds,
                     const Matrix& rows, double unit, size_t least, double zero, size_t targets) {
  const size_t n = x.shape(0), p = x.shape(1), k = directions.shape(0);
  require(n >= 1 && rows.shape(0) == n, "X and rows must have the same number of rows, 1 or more");
  require(targets >= 1 && rows.shape(1) >= targets, "rows must have at least the columns of the targets");
  require(directions.shape(1) == p, "directions must have one component per column of X");
  require(!fixed_thresholds || fixed_thresholds->shape(0) == k, "thresholds must have one entry per direction");
  std::vector<double> errors(k), thresholds(k);
  {
    const Released released;
    DirectionCuts cuts(x.data(), n, p, rows.data(), rows.shape(1), targets, unit, least, zero);
    for (size_t d = 0; d < k; ++d) {
      const double fixed = fixed_thresholds ? (*fixed_thresholds)(d) : std::numeric_limits<double>::quiet_NaN();
      const DirectionCut best = cuts.best(directions.data() + d * p, fixed);
      errors[d] = best.error;
      thresholds[d] = best.threshold;
    }
  }
  return nb::make_tuple(array(std::move(errors)), array(std::move(thresholds)));
}

nb::tuple pilot_models(const Matrix& x, const Doubles& y,
                       const nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& orders,
                       size_t least, size_t distinct, double zero) {
  const size_t n = x.shape(0), p = x.shape(1), m = orders.shape(1);
  require(y.shape(0) == n, "y must have one entry per row of X");
  require(orders.shape(0) == p && m >= 1, "orders must have a row for each column of X, of one row or more");
  for (size_t j = 0; j < p; ++j)
    for (size_t i = 0; i < m; ++i)
      require(orders(j, i) >= 0 && orders(j, i) < static_cast<int64_t>(n), "orders must hold rows of X");
  std::vector<double> rss, thresholds;
  {
    const Released released;
    PilotSearch search;
    for (size_t j = 0; j < p; ++j) {
      const PilotModels models =
          search.best(x.data() + j, p, y.data(), orders.data() + j * m, m, PilotLimits{least, distinct, zero});
      rss.insert(rss.end(), models.rss.begin(), models.rss.end());
      thresholds.insert(thresholds.end(), models.threshold.begin(), models.threshold.end());
    }
  }
  return nb::make_tuple(array(std::move(rss), {p, 4}), array(std::move(thresholds), {p, 3}));
}

}  // namespace

void bind_model_tree(nb::module_& m) {
  m.def("prefix_rss", &prefix_rss_of, "rows"_array, "cuts"_array, "zero"_a, "targets"_a = 1,
        "Residual sum of squares of the last `targets` columns on the others, added up, over the first cuts[0], "
        "cuts[1], ... rows, by Givens rotations; entries below zero once the columns before them are eliminated count "
        "as 0.");
  m.def("cuts_along", &cuts_along, "X"_array, "directions"_array, "thresholds"_array.none(), "rows"_array, "unit"_a,
        "least"_a, "zero"_a, "targets"_a = 1,
        "Least sum of both sides' residual sums of squares over the cuts along each direction, infinity where no cut "
        "leaves `least` rows on either side, and its threshold; at the given thresholds alone if there are any.");
  m.def("pilot_models", &pilot_models, "X"_array, "y"_array, "orders"_array, "least"_a, "distinct"_a, "zero"_a,
        "Residual sums of squares of PILOT's models LIN, PCON, BLIN and PLIN on each column over the rows in `orders`, "
        "(p, 4), infinity where a model may not be, and the cuts of the last three, (p, 3).");
}

}  // namespace oblique
