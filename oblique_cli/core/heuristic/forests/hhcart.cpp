// The HHCART split of a forest: the best cut along the axes of a few reflections of the drawn features.

#include "heuristic/class_moments.hpp"
#include "heuristic/forest_split.hpp"

namespace oblique {
namespace {

class HhcartForest final : public ForestHeuristic {
 public:
  explicit HhcartForest(const ForestTraits& traits)
      : reflections_(traits.options.count("reflections")), dominant_only_(traits.options.flag("dominant_only")),
        tau_(traits.options.number("tau")), search_(make_search({"gini", false, 1.0, false})) {}

  // Each reflection maps an eigenvector, drawn among those of the classes at the node, to the first axis (thesis 3.5).
  // If no class has an eigenvector, the original axes are searched.
  void propose(const BagNode& node, Proposal& proposal) override {
    const NodeRows& rows = rows_.take(node.bag, node.x);
    spread_.measure(rows);
    draw_spaces(rows, node.stream);
    search_->begin(rows);
    search_spaces(*search_, rows, spread_, spaces_, 0, xu_);
    const Cut cut = search_->front().winner();
    proposal.is_final = false;
    if (cut.order >= 0) proposal.planes.push_back({normal_of(spaces_, node.x.m, cut.order), cut.threshold});
  }

 private:
  void draw_spaces(const NodeRows& rows, Stream& stream) {
    const size_t m = rows.columns.size(), n_classes = rows.n_classes;
    moments_.begin(spread_.widest());
    const size_t per_class = dominant_only_ ? 1 : m;
    pool_.resize(n_classes * per_class);
    std::iota(pool_.begin(), pool_.end(), size_t{0});
    vectors_.clear();
    // A draw of a class without spread, or of an eigenvector without variance, does not count.
    size_t n_reflections = 0;
    for (size_t at = 0; at < pool_.size() && n_reflections < reflections_; ++at) {
      std::swap(pool_[at], pool_[at + stream.below(pool_.size() - at)]);
      const size_t k = pool_[at] / per_class, which = pool_[at] % per_class;
      if (!moments_.covariance(rows, rows.first_row[k], rows.first_row[k + 1], covariance_)) continue;
      axes_.clear();
      const int n_axes =
          principal_axes(eigen_, covariance_.data(), static_cast<int>(m), 1e-10, -1.0, dominant_only_, axes_);
      if (static_cast<int>(which) >= n_axes) continue;
      const auto first = axes_.begin() + which * m;
      vectors_.insert(vectors_.end(), first, first + m);
      ++n_reflections;
    }
    spaces_.clear();
    add_reflections(vectors_, m, tau_, false, spaces_);
    if (spaces_.empty()) spaces_.push_back(Space{});
  }

  const size_t reflections_;  // eigenvectors drawn at a node
  const bool dominant_only_;  // use only the first eigenvector of each class
  const double tau_;
  std::unique_ptr<NodeSearch> search_;
  BagRows rows_;
  std::vector<size_t> pool_;
  Spread spread_;
  ClassMoments moments_;
  SymmetricEigen eigen_;
  Vector covariance_, axes_, vectors_, xu_;
  std::vector<Space> spaces_;
};

const RegisteredSplit hhcart("hhcart", {integer("reflections"), flag("dominant_only"), number("tau")},
                             make_forest<HhcartForest>);

}  // namespace
}  // namespace oblique
