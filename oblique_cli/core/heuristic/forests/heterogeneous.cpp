// The planes of a heterogeneous oblique forest (Katuwal, Suganthan & Zhang 2020): several linear classifiers on several
// groupings of the classes into two sides.

#include "heuristic/forest_split.hpp"
#include "heuristic/mpsvm.hpp"
#include "linear/linear_solver.hpp"

namespace oblique {
namespace {

class HeterogeneousForest final : public ForestHeuristic {
 public:
  explicit HeterogeneousForest(const ForestTraits& traits)
      : by_mpsvm_(traits.options.flag("mpsvm")), by_lda_(traits.options.flag("lda")),
        by_ridge_(traits.options.flag("ridge")), by_svm_(traits.options.flag("svm")),
        by_logistic_(traits.options.flag("logistic")), partitions_(traits.options.count("partitions")) {
    classes_.configure(traits.options.number("delta"));
    mpsvm_.configure(Regularization::tikhonov, traits.options.number("delta"));
  }

  // The planes at a node, those of the best grouping first; none if moments may overflow or no feature varies.
  void propose(const BagNode& node, Proposal& proposal) override {
    const Bag& bag = node.bag;
    const Gathered& x = node.x;
    std::vector<Plane>& planes = proposal.planes;
    m_ = x.m;
    n_ = bag.n;
    if (!(classes_.begin(x) < kWidest)) return;
    classes_.find(bag, x);
    group(bag);
    for (size_t i = 0; i < groupings_.size() && i < partitions_; ++i) {
      checkpoint(32 * n_ * m_);
      take(bag, x, groupings_[i].side);
      if (by_mpsvm_) add_mpsvm(planes);
      if (!standardize()) continue;
      if (by_lda_) add_lda(planes);
      if (by_ridge_) add_ridge(planes);
      if (by_svm_) add_linear(MarginLoss::squared_hinge, planes);
      if (by_logistic_) add_linear(MarginLoss::logistic, planes);
    }
  }

 private:
  // The side of every class of the node, and the Gini value of a cut that separates the sides exactly.
  struct Grouping {
    std::vector<unsigned char> side;
    double value = 0.0;
  };

  // Each class against the rest, and the hyper-classes, sorted by the Gini value of an exact cut.
  void group(const Bag& bag) {
    groupings_.clear();
    const size_t n_classes = bag.runs->size();
    const auto add = [&](std::vector<unsigned char> side) {
      for (const Grouping& other : groupings_)
        if (std::equal(side.begin(), side.end(), other.side.begin(),
                       [&](unsigned char a, unsigned char b) { return (a == side[0]) == (b == other.side[0]); }))
          return;  // the same two sides, possibly exchanged
      double squares[2] = {0.0, 0.0}, weight[2] = {0.0, 0.0};
      for (size_t k = 0; k < n_classes; ++k) {
        const double w = (*bag.runs)[k].weight;
        squares[side[k]] += w * w;
        weight[side[k]] += w;
      }
      groupings_.push_back({std::move(side), gini_value(squares[0], weight[0], squares[1], weight[1])});
    };
    add(classes_.side());
    for (size_t k = 0; k < n_classes; ++k) {
      std::vector<unsigned char> side(n_classes, 1);
      side[k] = 0;
      add(std::move(side));
    }
    std::stable_sort(groupings_.begin(), groupings_.end(),
                     [](const Grouping& a, const Grouping& b) { return a.value > b.value; });
  }

  // Gathers the rows of the node, those of the first side before the others.
  void take(const Bag& bag, const Gathered& x, const std::vector<unsigned char>& side) {
    order_.clear();
    for (int which = 0; which < 2; ++which) {
      size_t first = 0;
      ClassRun& here = sides_[which];
      here = {which, 0, 0.0};
      for (size_t k = 0; k < bag.runs->size(); ++k) {
        const ClassRun& run = (*bag.runs)[k];
        for (size_t i = first; side[k] == which && i < first + run.n; ++i) order_.push_back(i);
        if (side[k] == which) {
          here.n += run.n;
          here.weight += run.weight;
        }
        first += run.n;
      }
    }
    columns_.resize(n_ * m_);
    weight_.resize(n_);
    sign_.resize(n_);
    for (size_t i = 0; i < n_; ++i) {
      weight_[i] = bag.weight[order_[i]];
      sign_[i] = i < sides_[0].n ? -1.0 : 1.0;
    }
    for (size_t j = 0; j < m_; ++j)
      for (size_t i = 0; i < n_; ++i) columns_[j * n_ + i] = x.column(j)[order_[i]];
  }

  void add_mpsvm(std::vector<Plane>& planes) {
    bool singular = false;
    const Bag two{nullptr, weight_.data(), n_, &sides_, false};
    if (mpsvm_.find(two, {columns_.data(), n_, m_}, bisectors_, singular))
      planes.insert(planes.end(), bisectors_.begin(), bisectors_.end());
  }

  // Scales columns_ to mean 0 and standard deviation 1, constant ones to 0; false if all are constant.
  bool standardize() {
    const Standard& standard = classes_.standard();
    center_.resize(m_);
    scale_.resize(m_);
    total_ = sides_[0].weight + sides_[1].weight;
    bool varies = false;
    for (size_t j = 0; j < m_; ++j) {
      double* z = columns_.data() + j * n_;
      double mean = 0.0, square = 0.0;
      for (size_t i = 0; i < n_; ++i) {
        z[i] = (z[i] - standard.center[j]) / standard.scale[j];
        mean += weight_[i] * z[i];
      }
      mean /= total_;
      for (size_t i = 0; i < n_; ++i) square += weight_[i] * (z[i] - mean) * (z[i] - mean);
      const double deviation = classes_.range()[j] > 0.0 ? std::sqrt(square / total_) : 0.0;
      const bool constant = !(deviation > 1e-10);
      for (size_t i = 0; i < n_; ++i) z[i] = constant ? 0.0 : (z[i] - mean) / deviation;
      center_[j] = standard.center[j] + standard.scale[j] * mean;
      scale_[j] = constant ? 0.0 : standard.scale[j] * deviation;
      varies = varies || !constant;
    }
    return varies;
  }

  // sums_ = sum of w z over a side, products_ = sum of w z z' over all rows.
  void moments() {
    products_.assign(m_ * m_, 0.0);
    for (int which = 0; which < 2; ++which) sums_[which].assign(m_, 0.0);
    weighted_.resize(n_);
    for (size_t j = 0; j < m_; ++j) {
      const double* z = columns_.data() + j * n_;
      for (size_t i = 0; i < n_; ++i) {
        weighted_[i] = weight_[i] * z[i];
        sums_[sign_[i] > 0.0][j] += weighted_[i];
      }
      for (size_t k = 0; k <= j; ++k) {
        const double* other = columns_.data() + k * n_;
        double sum = 0.0;
        for (size_t i = 0; i < n_; ++i) sum += weighted_[i] * other[i];
        products_[j * m_ + k] = products_[k * m_ + j] = sum;
      }
    }
  }

  // Fisher's discriminant with the priors of the sides; the pooled covariance gets 1e-3 of a unit on its diagonal.
  void add_lda(std::vector<Plane>& planes) {
    moments();
    const double w0 = sides_[0].weight, w1 = sides_[1].weight;
    matrix_ = products_;
    w_.resize(m_);
    for (size_t j = 0; j < m_; ++j) {
      for (size_t k = 0; k < m_; ++k)
        matrix_[j * m_ + k] -= sums_[0][j] * sums_[0][k] / w0 + sums_[1][j] * sums_[1][k] / w1;
      for (size_t k = 0; k < m_; ++k) matrix_[j * m_ + k] /= total_;
      matrix_[j * m_ + j] += 1e-3;
      w_[j] = sums_[1][j] / w1 - sums_[0][j] / w0;
    }
    if (!solve()) return;
    double b = std::log(w1 / w0);
    for (size_t j = 0; j < m_; ++j) b -= 0.5 * w_[j] * (sums_[1][j] / w1 + sums_[0][j] / w0);
    add_plane(b, planes);
  }

  // Least squares on -1 and 1 with |w|^2 added.
  void add_ridge(std::vector<Plane>& planes) {
    moments();
    const double mean = (sides_[1].weight - sides_[0].weight) / total_;
    matrix_ = products_;
    w_.resize(m_);
    for (size_t j = 0; j < m_; ++j) {
      matrix_[j * m_ + j] += 1.0;
      w_[j] = sums_[1][j] - sums_[0][j] - mean * (sums_[1][j] + sums_[0][j]);
    }
    if (solve()) add_plane(mean, planes);
  }

  // A linear support vector machine or a logistic regression, C = 1.
  void add_linear(MarginLoss loss, std::vector<Plane>& planes) {
    LinearPenalty penalty;
    penalty.l2 = 1.0;
    LinearOptions options;
    options.loss = loss;
    options.tolerance = 1e-8;
    fit_ = LinearFit{};
    solver_.solve({columns_.data(), n_, m_, sign_.data(), weight_.data()}, penalty, options, fit_);
    w_ = fit_.w;
    w_.resize(m_, 0.0);
    add_plane(fit_.b, planes);
  }

  // w_ = matrix_^-1 w_; false if the matrix has no factor.
  bool solve() {
    double largest = 0.0;
    for (size_t j = 0; j < m_; ++j) largest = std::max(largest, matrix_[j * m_ + j]);
    if (!cholesky(matrix_.data(), m_, 1e-15 * largest)) return false;
    solve_by_factor(matrix_.data(), m_, w_.data());
    return true;
  }

  // Adds w_ z + b <= 0 over the features themselves, if it is a plane.
  void add_plane(double b, std::vector<Plane>& planes) {
    double least = std::numeric_limits<double>::infinity(), largest = 0.0;
    for (size_t j = 0; j < m_; ++j)
      if (scale_[j] > 0.0 && w_[j] != 0.0) least = std::min(least, scale_[j] / std::fabs(w_[j]));
    Plane plane;
    plane.w.assign(m_, 0.0);
    plane.t = -least * b;
    for (size_t j = 0; j < m_; ++j) {
      if (scale_[j] > 0.0) plane.w[j] = w_[j] * (least / scale_[j]);
      plane.t += plane.w[j] * center_[j];
      largest = std::max(largest, std::fabs(plane.w[j]));
    }
    if (largest > 0.0 && std::isfinite(largest) && std::isfinite(plane.t)) planes.push_back(std::move(plane));
  }

  const bool by_mpsvm_, by_lda_, by_ridge_, by_svm_, by_logistic_;
  const size_t partitions_;  // of the classes into two sides
  size_t m_ = 0, n_ = 0;
  double total_ = 0.0;
  HyperClasses classes_;
  MpsvmSplit mpsvm_;
  std::vector<Grouping> groupings_;
  std::vector<size_t> order_;
  std::vector<ClassRun> sides_ = std::vector<ClassRun>(2);
  std::vector<Plane> bisectors_;
  Vector columns_, weight_, sign_, weighted_, center_, scale_, products_, matrix_, w_, sums_[2];
  LinearSolver solver_;
  LinearFit fit_;
};

const RegisteredSplit heterogeneous("heterogeneous",
                                    {flag("mpsvm"), flag("lda"), flag("ridge"), flag("svm"), flag("logistic"),
                                     integer("partitions"), number("delta")},
                                    make_forest<HeterogeneousForest>);

}  // namespace
}  // namespace oblique
