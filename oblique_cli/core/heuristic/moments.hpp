// Sums over the rows of a node that determine the directions of some heuristics.
#pragma once

#include "heuristic/bisectors.hpp"
#include "heuristic/heuristic.hpp"

namespace oblique {

// The sums over the rows of a node: the classes alone, the covariance of each class, the scatter of its unit rows, or
// the moments about the origin. Each kind needs separate passes over blocks of rows.
enum class Sums { classes, covariances, unit_rows, origin };

// Selects principal axes of the classes.
// unit_rows      of the scatter of unit rows (thesis 5.3), else of the covariance (thesis 3.5)
// tolerance      leaves out eigenvalues up to this share of the largest
// sign           of the first component
// dominant_only  only the first axis of each class
// shrinkage      shrinks covariances of small classes, see `shrink`
struct ClassAxes {
  bool unit_rows;
  double tolerance, sign;
  bool dominant_only, shrinkage;
};

// The moments of one node, in memory or in blocks. Classes are those present, by index.
class RowMoments {
 public:
  virtual ~RowMoments() = default;

  virtual size_t n_features() const = 0;
  virtual int n_classes() const = 0;
  virtual double weight(int k) const = 0;
  // (p, p); false if all rows of the class are equal.
  virtual bool covariance(int k, Vector& out) = 0;
  virtual bool unit_scatter(int k, Vector& out) = 0;
  virtual void pooled_variances(Vector& out) = 0;
  // The axes of every class present, appended class by class.
  virtual void add_axes(const ClassAxes& axes, Vector& out) {
    if (axes.shrinkage) pooled_variances(pooled_);
    for (int k = 0; k < n_classes(); ++k) {
      if (!(axes.unit_rows ? unit_scatter(k, matrix_) : covariance(k, matrix_))) continue;
      if (axes.shrinkage) shrink(matrix_, pooled_, weight(k));
      principal_axes(eigen_, matrix_.data(), static_cast<int>(n_features()), axes.tolerance, axes.sign,
                     axes.dominant_only, out);
    }
  }

  // The better bisector of the clustering hyperplanes of the largest class and the rest, by its gain over all classes
  // or, with super_classes, over two groups (the largest class and all others). The first on a tie, or if neither has
  // any gain; nullptr if there is none.
  virtual const Plane* better_bisector(bool super_classes) = 0;

 private:
  SymmetricEigen eigen_;
  Vector matrix_, pooled_;
};

// Serves one node after another and reuses its buffers.
class NodeMoments final : public RowMoments {
 public:
  void begin(const Node& node) {
    node_ = &node;
    moments_.begin(node.spread.widest());
  }

  size_t n_features() const override { return node_->n_features(); }
  int n_classes() const override { return node_->rows.n_classes; }
  double weight(int k) const override { return node_->search.totals().of_class[k]; }
  bool covariance(int k, Vector& out) override { return moments_.covariance(node_->rows, first(k), first(k + 1), out); }
  bool unit_scatter(int k, Vector& out) override {
    return moments_.unit_scatter(node_->rows, first(k), first(k + 1), out);
  }
  void pooled_variances(Vector& out) override { moments_.pooled_variances(node_->rows, out); }

  void add_axes(const ClassAxes& axes, Vector& out) override {
    // A shrunk covariance has full rank, so it does not lie in the span of the rows.
    if (axes.shrinkage) return RowMoments::add_axes(axes, out);
    if (!node_->is_shared(n_features() * n_features() / 2)) {
      for (int k = 0; k < n_classes(); ++k) add_axes_of(k, axes, moments_, out);
      return;
    }
    std::vector<Vector> of_class(static_cast<size_t>(n_classes()));
    const auto make_moments = [&] {
      ClassMoments moments;
      moments.begin(node_->spread.widest());
      return moments;
    };
    node_->team->share_with(
        of_class.size(), Team::Meanwhile::kWait, make_moments,
        [&](size_t k, ClassMoments& moments) { add_axes_of(static_cast<int>(k), axes, moments, of_class[k]); });
    for (const Vector& moments : of_class) out.insert(out.end(), moments.begin(), moments.end());
  }

  // Restores the search of the node afterwards.
  const Plane* better_bisector(bool super_classes) override { return bisector_.find(*node_, super_classes); }

 private:
  size_t first(int k) const { return node_->rows.first_row[k]; }

  void add_axes_of(int k, const ClassAxes& axes, ClassMoments& moments, Vector& out) const {
    moments.add_axes(node_->rows, first(k), first(k + 1), axes.unit_rows, axes.tolerance, axes.sign, axes.dominant_only,
                     out);
  }

  const Node* node_ = nullptr;
  ClassMoments moments_;
  BetterBisector bisector_;
};

// Heuristics in two steps: `sums` names the required sums over the rows of a node, and `propose` reads only these
// moments. The same code serves rows in memory and rows in blocks on a disk.
class SumsProposer : public Proposer {
 public:
  virtual Sums sums() const { return Sums::classes; }
  // moments : contains the sums that `sums` names, and the class weights.
  virtual void propose(RowMoments& moments, Candidates& candidates) = 0;

  void propose(const Node& node, Candidates& candidates) final {
    moments_.begin(node);
    propose(moments_, candidates);
  }
  bool reads_stretches() const final { return true; }

 private:
  NodeMoments moments_;
};

}  // namespace oblique
