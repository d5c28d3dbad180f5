// Cuts of features as in C4.5 (Quinlan 1993): the best cut of each feature by gain; among the features whose gain is at
// least the average minus a thousandth, the cut with the largest ratio of gain to split information.

#include "heuristic/heuristic.hpp"

namespace oblique {
namespace {

// Split information in bits of a cut with `share` of the rows on one side. 0 < share < 1
double information(double share) { return -(share * std::log2(share) + (1.0 - share) * std::log2(1.0 - share)); }

double weight_left(const NodeRows& rows, size_t j, double threshold) {
  double sum = 0.0;
  for (size_t i = 0; i < rows.n; ++i)
    if (rows.columns[j][i] <= threshold) sum += rows.weight(i);
  return sum;
}

class GainRatio final : public Proposer {
 public:
  explicit GainRatio(const Options&) {}

  void propose(const Node& node, Candidates& candidates) override {
    found_.clear();
    double sum = 0.0;
    for (size_t j = 0; j < node.n_features(); ++j) {
      node.search.restart();
      node.search.direction(0, node.rows.columns[j], node.spread.of_axis(j));
      const Cut cut = node.search.front().winner();
      if (cut.order < 0) continue;
      double threshold = cut.threshold;
      if (!settle(node.rows.columns[j], node.rows.n, threshold)) continue;
      const double gain = node.search.gain(cut.value), n = node.search.totals().n;
      found_.push_back({j, threshold, gain, gain / information(weight_left(node.rows, j, threshold) / n)});
      sum += gain;
    }
    node.search.restart();
    const Found* best = nullptr;
    for (const Found& candidate : found_) {
      if (candidate.gain < sum / static_cast<double>(found_.size()) - kSlack) continue;
      // Ratios closer than this are equal, and the first feature wins.
      if (!best || candidate.ratio > best->ratio + 1e-9) best = &candidate;
    }
    if (!best) return;
    Vector w(node.n_features(), 0.0);
    w[best->feature] = 1.0;
    // With the threshold: a search along the direction would allow for the rounding of a projection, which axes lack.
    candidates.add_hyperplane(std::move(w), best->threshold);
  }

 private:
  static constexpr double kSlack = 1e-3;
  struct Found {
    size_t feature;
    double threshold, gain, ratio;
  };
  std::vector<Found> found_;
};

// The class weights are the only sums.
const Registered family("gain_ratio", {}, make<GainRatio>, false, false);

}  // namespace
}  // namespace oblique
