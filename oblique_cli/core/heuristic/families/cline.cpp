// Cline: planes through the middle of two means, or of the two nearest rows of different classes (thesis 2.4). The
// class in oblique_cli/proposers/cline.py documents the decisions where the thesis is silent.

#include "heuristic/bisectors.hpp"
#include "heuristic/discriminant.hpp"
#include "heuristic/heuristic.hpp"
#include "heuristic/nearest_pair.hpp"

namespace oblique {
namespace {

constexpr double kSame = 1e-12;  // relative to the largest range of a feature; closer means are equal

class Cline final : public Proposer {
 public:
  explicit Cline(const Options& options)
      : rule_(options.choice("rule")), normal_of_pair_(options.flag("normal_of_pair")) {}

  void propose(const Node& node, Candidates& candidates) override {
    const double widest = node.spread.widest();
    if (!(widest > 0.0)) return;
    // The same unit for all features preserves right angles and distances.
    const double unit = std::exp2(std::ceil(std::log2(widest)));
    units_.center = node.spread.center;
    units_.scale.assign(node.n_features(), unit);
    largest_ = majority(node.search.totals());
    gather(node, unit);
    if (rule_ != "nearest_pair") add_plane_of_means(node, candidates);
    if (rule_ != "mean") add_plane_of_pair(node, candidates);
  }

 private:
  // The rows of the largest class and the others, in units of the node.
  void gather(const Node& node, double unit) {
    const NodeRows& rows = node.rows;
    const size_t p = node.n_features(), k = largest_;
    const size_t begin = rows.first_row[k], end = rows.first_row[k + 1];
    first_.resize((end - begin) * p);
    rest_.resize((rows.n - (end - begin)) * p);
    for (int side = 0; side < 2; ++side) {
      mean_[side].assign(p, 0.0);
      weight_[side] = 0.0;
    }
    double *first = first_.data(), *rest = rest_.data();
    for (size_t i = 0; i < rows.n; ++i) {
      const bool is_first = i >= begin && i < end;
      double*& out = is_first ? first : rest;
      const int side = is_first ? 0 : 1;
      const double w = rows.weights ? rows.weights[i] : 1.0;
      weight_[side] += w;
      for (size_t j = 0; j < p; ++j) {
        out[j] = (rows.columns[j][i] - units_.center[j]) / unit;
        mean_[side][j] += w * out[j];
      }
      out += p;
    }
    for (int side = 0; side < 2; ++side)
      for (double& each : mean_[side]) each /= weight_[side];
  }

  // The plane with this normal through the middle of a and b.
  void add_between(const Node& node, const Vector& normal, const Vector& a, const Vector& b, Candidates& candidates) {
    double offset = 0.0;
    for (size_t j = 0; j < normal.size(); ++j) offset += normal[j] * (0.5 * a[j] + 0.5 * b[j]);
    units_.add_plane(node, normal, offset, candidates);
  }

  static Vector difference(const Vector& b, const Vector& a) {
    Vector out(b);
    for (size_t j = 0; j < out.size(); ++j) out[j] -= a[j];
    return out;
  }

  void add_plane_of_means(const Node& node, Candidates& candidates) {
    const Vector apart = difference(mean_[1], mean_[0]);
    if (norm(apart.data(), apart.size()) > kSame) add_between(node, apart, mean_[0], mean_[1], candidates);
  }

  void add_plane_of_pair(const Node& node, Candidates& candidates) {
    if (!pair_.find(first_, rest_, node.n_features())) return;
    Vector normal = difference(pair_.second(), pair_.first());
    if (!normal_of_pair_) {
      discriminant_.begin(node, Discriminant::kZeroEigenvalue);
      Group group(static_cast<size_t>(node.rows.n_classes), 0);
      group[largest_] = 1;
      Vector direction;
      if (discriminant_.direction(group, direction)) normal = discriminant_.standard().unit_normal(direction);
    }
    add_between(node, normal, pair_.first(), pair_.second(), candidates);
  }

  const std::string rule_;
  const bool normal_of_pair_;
  int largest_ = 0;
  StandardScores units_;
  Discriminant discriminant_;
  NearestPair pair_;
  Vector first_, rest_, mean_[2];
  double weight_[2] = {0.0, 0.0};
};

const Registered cline("cline", {choice("rule", {"mean", "nearest_pair", "best"}), flag("normal_of_pair")},
                       make<Cline>);

}  // namespace
}  // namespace oblique
