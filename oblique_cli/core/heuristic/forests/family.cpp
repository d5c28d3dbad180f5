// The split of a forest's node by any family of heuristics in core/heuristic.

#include "heuristic/forest_split.hpp"
#include "split/candidates.hpp"

namespace oblique {
namespace {

// Trees use the families in turn.
class FamilyForest final : public ForestHeuristic {
 public:
  explicit FamilyForest(const ForestTraits& traits)
      : families_(traits.families), unweighted_(traits.unweighted), options_(search_of(families_[0].options)),
        search_(make_search(options_)), none_({}), predicted_(static_cast<const double*>(nullptr), none_) {
    axes_.add_axes();
  }

  void begin_tree(uint64_t seed, size_t number) override {
    const FamilyChoice& choice = families_[number % families_.size()];
    heuristic_ = choice.family->make(choice.options);
    seed_ = seed;
  }
  void propose(const BagNode& node, Proposal& proposal) override {
    checkpoint(4 * node.bag.n * node.x.m);
    ordinary_ = begin(node);
    if (ordinary_ && split(node)) add(proposal);
  }
  bool is_orderly() const override { return true; }
  bool propose_axis(const BagNode& node, Proposal& proposal) override {
    checkpoint(4 * node.bag.n * node.x.m);
    if (!ordinary_ || !begin(node)) return false;
    const bool is_free = node.signs.empty();
    if (is_free ? axes_search_.find(of(node), axes_, split_) : ordered_.find(of(node), axes_, split_)) add(proposal);
    return true;
  }
  double min_leaf() const override { return options_.min_leaf; }
  void require(double min_leaf) override {
    options_.min_leaf = min_leaf;
    search_ = make_search(options_);
  }

 private:
  static constexpr double kLargest = 0x1p500;

  // Begins a node. False if moments of its features overflow or vanish; the families then cannot be used.
  bool begin(const BagNode& node) {
    const NodeRows& rows = rows_.take(node.bag, node.x, unweighted_);
    spread_.measure(rows);
    const double largest = *std::max_element(spread_.magnitude.begin(), spread_.magnitude.end());
    if (!(largest < kLargest && (largest == 0.0 || largest > 1.0 / kLargest))) return false;
    predicted_.begin(rows.columns, rows.n);
    search_->begin(rows);
    node_rows_ = &rows;
    return true;
  }
  Node of(const BagNode& node) {
    return {*node_rows_, spread_,  predicted_,
            *search_,    options_, seed_,
            node.path,   nullptr,  node.signs.empty() ? nullptr : &node.signs,
            node.bounds};
  }
  bool split(const BagNode& node) {
    if (node.signs.empty()) return heuristic_->split(of(node), split_);
    candidates_.clear();
    heuristic_->propose(of(node), candidates_);
    return ordered_.find(of(node), candidates_, split_);
  }
  void add(Proposal& proposal) const {
    proposal.planes.push_back({split_.normal, split_.threshold});
    proposal.is_final = split_.is_final;
    proposal.keeps_axes = true;
  }

  const std::vector<FamilyChoice>& families_;
  const bool unweighted_;
  SearchOptions options_;
  std::unique_ptr<NodeSearch> search_;
  const Levels none_;
  PredictedRows predicted_;
  std::unique_ptr<Heuristic> heuristic_;
  Candidates axes_, candidates_;
  CandidateSearch axes_search_;
  MonotoneSearch ordered_;
  uint64_t seed_ = 0;
  BagRows rows_;
  const NodeRows* node_rows_ = nullptr;
  bool ordinary_ = false;
  Spread spread_;
  Split split_;
};

const RegisteredSplit family("family", {}, make_forest<FamilyForest>, true);

}  // namespace
}  // namespace oblique
