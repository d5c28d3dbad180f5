// Python bindings of the geometry that heuristics use, for the reference engine and for tests.
#include "bindings/bindings.hpp"
#include "heuristic/clustering_planes.hpp"
#include "rows/crimcoord.hpp"

namespace oblique {
namespace {

nb::tuple clustering_hyperplane(const Matrix& a, const Matrix& b, const Doubles& center, const Doubles& scale) {
  const size_t m = a.shape(0);
  require(a.shape(1) == m && b.shape(0) == m && b.shape(1) == m && m >= 2, "A and B must be square and of one size");
  require(center.shape(0) + 1 == m && scale.shape(0) + 1 == m, "center and scale need one entry per feature");
  const Standard standard{vector_of(center), vector_of(scale)};
  ClusteringHyperplane solver;
  std::vector<double> w(m, 0.0);
  const Hyperplane kind = solver.solve(a.data(), b.data(), static_cast<int>(m), standard, w.data());
  const char* names[] = {"full_rank", "null_space", "range_space", "none"};
  return nb::make_tuple(array(std::move(w)), names[static_cast<int>(kind)]);
}

nb::object principal_axes_of(const Matrix& covariance, double tolerance, double sign, bool dominant_only) {
  const size_t p = covariance.shape(0);
  require(covariance.shape(1) == p && p >= 1, "the covariance matrix must be square");
  SymmetricEigen eigen;
  Vector out;
  const int n_axes = principal_axes(eigen, covariance.data(), static_cast<int>(p), tolerance, sign, dominant_only, out);
  return array(std::move(out), {static_cast<size_t>(n_axes), p});
}

// Solves many symmetric matrices in one call, so that a benchmark measures the solver instead of the calls.
nb::tuple eigen(const nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>& matrices,
                bool dominant_only) {
  const size_t n = matrices.shape(0), p = matrices.shape(1);
  require(matrices.shape(2) == p && p >= 1, "the matrices must be square");
  Vector values, vectors;
  {
    const nb::gil_scoped_release release;
    SymmetricEigen solver;
    for (size_t i = 0; i < n; ++i) {
      const double* a = matrices.data() + i * p * p;
      dominant_only ? solver.solve_dominant(a, static_cast<int>(p)) : solver.solve(a, static_cast<int>(p));
      const size_t n_values = solver.values.size(), n_vectors = dominant_only ? 1 : p;
      values.insert(values.end(), solver.values.end() - n_vectors, solver.values.end());
      const double* first = solver.vector(static_cast<int>(n_values - n_vectors));
      vectors.insert(vectors.end(), first, first + n_vectors * p);
    }
  }
  const size_t n_vectors = dominant_only ? 1 : p;
  return nb::make_tuple(array(std::move(values), {n, n_vectors}), array(std::move(vectors), {n, n_vectors, p}));
}

nb::object crimcoord(const Matrix& table) {
  std::vector<double> scores(table.shape(0));
  Crimcoord solver;
  solver.solve(table.data(), table.shape(0), table.shape(1), scores.data());
  return array(std::move(scores));
}

nb::object project_rows(const Matrix& x, const Doubles& w) {
  require(w.shape(0) == x.shape(1), "w must have one component per column of X");
  std::vector<double> z(x.shape(0));
  for (size_t i = 0; i < z.size(); ++i) z[i] = dot_row(w.data(), x.data() + i * x.shape(1), x.shape(1));
  return array(std::move(z));
}

}  // namespace

void bind_geometry(nb::module_& m) {
  m.def("clustering_hyperplane", &clustering_hyperplane, "A"_array, "B"_array, "center"_array, "scale"_array,
        "Plane (w, b) over x that maximizes w'Bw / w'Aw, unnormalized, A and B moments of [z 1] with "
        "x = center + scale * z; and which case of thesis 5.1.2 applied.");
  m.def("principal_axes", &principal_axes_of, "covariance"_array, "tolerance"_a, "sign"_a, "dominant_only"_a,
        "Eigenvectors as rows, by falling eigenvalue, oriented and with canonical bases of repeated eigenvalues.");
  m.def("eigen", &eigen, "matrices"_array, "dominant_only"_a = false,
        "Eigenvalues of symmetric matrices (n, p, p), ascending, (n, p), and their eigenvectors as rows, (n, p, p); or "
        "the largest alone, (n, 1) and (n, 1, p).");
  m.def("crimcoord", &crimcoord, "table"_array,
        "Score of each level from the table of weights of levels by classes (thesis 3.7), (n_levels,).");
  m.def("project", &project_rows, "X"_array, "w"_array, "X w by the arithmetic that prediction uses.");
}

}  // namespace oblique
