// The Python face of least squares by the row.
#include "bindings/bindings.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/release.hpp"
#include "model_tree/least_squares.hpp"

namespace oblique {
namespace {

nb::object prefix_rss_of(const Matrix& rows,
                         const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& cuts,
                         double zero) {
  const std::size_t n = rows.shape(0), m = rows.shape(1), n_cuts = cuts.shape(0);
  require(m >= 1, "rows must have at least the column of the target");
  for (std::size_t c = 0; c < n_cuts; ++c)
    require(cuts(c) >= (c ? cuts(c - 1) : 0) && cuts(c) <= static_cast<std::int64_t>(n), "cuts must rise from 0 to n");
  std::vector<double> out;
  {
    const Released released;
    out = prefix_rss(rows.data(), m, cuts.data(), n_cuts, zero);
  }
  return array(std::move(out), {n_cuts});
}

}  // namespace

void bind_model_tree(nb::module_& m) {
  m.def("prefix_rss", &prefix_rss_of, "rows"_a.noconvert(), "cuts"_a.noconvert(), "zero"_a,
        "Residual sum of squares of the last column on the others over the first cuts[0], cuts[1], ... rows, by Givens "
        "rotations; entries below zero once the columns before them are eliminated count as 0.");
}

}  // namespace oblique
