// Reflections of the principal axes of each class: HHCART, of its covariance matrix (thesis 3.5, algorithm 3), and
// HHCRV, of its representative vectors (thesis 5.3, algorithm 9). HHCART(G) of the R package hhcartr 1.0.0 takes two
// groups of rows instead: the largest class and all others.
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

constexpr double kZeroEigenvalue = 1e-10;  // share of the largest eigenvalue, where that is the only one in use

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
};

class HHCARTG final : public Proposer {
 public:
  explicit HHCARTG(const Options& options)
      : tau_(options.number("tau")), sign_(options.number("sign")), both_signs_(options.flag("both_signs")) {}

  void propose(const Node& node, Candidates& candidates) override {
    const NodeRows& rows = node.rows;
    const int largest = majority(node.search.totals());
    const size_t first = rows.first_row[largest], last = rows.first_row[largest + 1];
    vectors_.clear();
    moments_.begin(node.spread.widest());
    add_axis(rows, first, last);
    gather_others(rows, first, last);
    add_axis(others_, 0, others_.n);
    add_reflections(vectors_, node.n_features(), tau_, both_signs_, candidates.spaces());
    if (candidates.spaces().empty()) candidates.add_axes();
  }

 private:
  void add_axis(const NodeRows& rows, size_t first, size_t last) {
    moments_.add_axes(rows, first, last, false, kZeroEigenvalue, sign_, true, vectors_);
  }

  // others_ = all rows but [first, last).
  void gather_others(const NodeRows& rows, size_t first, size_t last) {
    const size_t n = rows.n - (last - first), p = rows.columns.size();
    const auto copy = [&](const double* from, double* to) {
      std::copy(from + last, from + rows.n, std::copy_n(from, first, to));
    };
    values_.resize(n * p);
    others_.columns.resize(p);
    for (size_t j = 0; j < p; ++j) {
      copy(rows.columns[j], values_.data() + j * n);
      others_.columns[j] = values_.data() + j * n;
    }
    weights_.resize(rows.weights ? n : 0);
    if (rows.weights) copy(rows.weights, weights_.data());
    others_.weights = rows.weights ? weights_.data() : nullptr;
    others_.n = n;
  }

  const double tau_, sign_;
  const bool both_signs_;
  ClassMoments moments_;
  NodeRows others_;
  Vector values_, weights_, vectors_;
};

const auto options = {number("tau"), number("sign"), number("eigenvalue_tolerance"), flag("both_signs"),
                      flag("shrinkage")};

const Registered hhcart_a("hhcart_a", options, make<HHCART<false>>);
const Registered hhcart_d("hhcart_d", options, make<HHCART<true>>);
const Registered hhcart_g("hhcart_g", {number("tau"), number("sign"), flag("both_signs")}, make<HHCARTG>);
const Registered hhcrv("hhcrv", {number("tau"), number("sign"), flag("both_signs")}, make<HHCRV>);

}  // namespace
}  // namespace oblique
