// OC1 at one node (Murthy, Kasif & Salzberg, JAIR 2, 1994): it perturbs coefficients until nothing improves, then moves
// the hyperplane in random directions, then restarts from a random hyperplane.
//
// Decisions where the article is silent:
// - A sweep perturbs the coefficients of the features in order, then the constant. A feature that is constant at the
//   node keeps coefficient 0.
// - A random hyperplane has coefficients uniform in (-1, 1), per range of the feature unless features are unscaled, and
//   passes through a point drawn uniformly from the bounding box of the node's rows. A random direction is another such
//   hyperplane.
// - Values within 1e-9 of the gain are equal. Among equal steps the least t wins, that is the largest coefficient.
// - The stagnation probability starts at `stagnation`, falls by a tenth of it with every equal step taken, and returns
//   to it when the value improves. A successful jump allows `jumps` more.
// - A coefficient moves to the middle of the gap between two steps. The final hyperplane gets the middle of its gap, in
//   the arithmetic of prediction, which also decides its score; it must beat the best axis-parallel split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/kernels.hpp"
#include "common/options.hpp"
#include "common/random.hpp"
#include "heuristic/climbing/climb.hpp"

namespace oblique {

enum class PerturbationOrder { sequential, best, random50 };

// Settings of the climb. The proposer of OC1 has the same defaults.
struct OC1Settings {
  std::int64_t restarts = 20, jumps = 5;
  PerturbationOrder order = PerturbationOrder::sequential;
  double stagnation = 1.0;
  bool exact = false;     // score every hyperplane of a line, see line_search.hpp
  bool direct = false;    // search again even where no improvement is possible
  bool as_given = false;  // draw coefficients for unscaled features
};

class OC1Climb final : public Climb {
 public:
  explicit OC1Climb(const Options& options);
  OC1Climb(const SearchOptions& search, const OC1Settings& settings);

  // Murthy et al., section 2: with fewer than 2 p rows a hyperplane has too many ways to fit them.
  double rows_per_feature() const override { return 2.0; }

  // Climbs from `start` and from random hyperplanes; the plane records the best.
  void climb(const Node& node, const Cut& start) override;

  // Climbs once, from a hyperplane over the features of the node. The plane has begun at the node and records the best.
  void climb_from(const Split& start, Stream stream);

 private:
  static constexpr double kNone = MovingPlane::kNone;
  static constexpr int kRandomPerturbations = 50;
  static constexpr int kEqualSteps = 10;

  void start_from(const Cut& start);
  void begin_climb();
  // Moves the plane until no perturbation and no random direction improves it.
  void climb_on(Stream& stream);

  void random_plane(Stream& stream, Vector& a, double& t) const;

  void perturb_all(Stream& stream);

  // Perturbs coefficient m; returns whether it was modified.
  bool perturb(std::size_t m, Stream& stream);

  // The coefficient whose perturbation gains most, the first on a tie.
  bool perturb_best(Stream& stream);

  // The least value that `offer` may accept.
  double needed() const;

  // Accepts a better step, or an equal one with the stagnation probability.
  bool offer(std::size_t m, double t, double value, Stream& stream);

  double move_probability() const { return settings_.stagnation * equal_steps_left_ / kEqualSteps; }
  void forget_equal_steps() { equal_steps_left_ = settings_.stagnation > 0.0 ? kEqualSteps : 0; }

  // Moves the hyperplane along a random direction if that improves it.
  bool try_jump(Stream& stream);

  const OC1Settings settings_;
  std::vector<std::size_t> active_;       // the features, and p for the threshold
  std::vector<std::uint64_t> looked_at_;  // per coefficient, the version of the plane that it cannot improve
  int equal_steps_left_ = 0;
  Vector r_, direction_;
};

}  // namespace oblique
