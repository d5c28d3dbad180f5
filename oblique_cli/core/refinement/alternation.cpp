#include "refinement/alternation.hpp"

#include "common/kernels.hpp"
#include "common/team.hpp"
#include "linear/row_blocks.hpp"
#include "refinement/leaf_fits.hpp"
#include "refinement/node_update.hpp"
#include "tree/step_down.hpp"

namespace oblique {

bool RefinedTree::goes_left(const RefinementRows& rows, size_t row, size_t node) const {
  const double* normal = plane(node);
  if (rows.absent) {
    const bool* absent = rows.absent + row * n_features;
    for (size_t j = 0; j < n_features; ++j)
      if (absent[j] && normal[j] != 0.0) return missing_left[node] != 0;
  }
  return dot_row(normal, rows.x + row * n_features, n_features) <= thresholds[node];
}

void RefinedTree::sides(const RefinementRows& rows, const uint32_t* which, size_t n, size_t node,
                        uint8_t* to_left) const {
  if (!rows.absent) return sides_of_rows(plane(node), -thresholds[node], rows.x, n_features, which, n, to_left);
  for (size_t i = 0; i < n; ++i) to_left[i] = goes_left(rows, which[i], node);
}

void RefinedTree::at_leaf(const RefinementRows& rows, size_t leaf, const uint32_t* which, size_t n,
                          double* losses) const {
  if (fits) return fits->losses(models[leaf], which, n, losses);
  for (size_t i = 0; i < n; ++i) losses[i] = label[leaf] == rows.y[which[i]] ? 0.0 : 1.0;
}

double RefinedTree::loss(const RefinementRows& rows, uint32_t row, size_t node) const {
  node = leaf_below(*this, node, [&](size_t at) { return goes_left(rows, row, at) ? left_of(at) : right_of(at); });
  double value;
  at_leaf(rows, node, &row, 1, &value);
  return value;
}

namespace {

constexpr double kRounding = 1e-12;  // relative to a sum
constexpr double kFall = 1e-10;      // relative to the weight of all rows: least decrease of E for a change
constexpr double kCares = 1e-3;      // least difference of costs for a row to count in the search for planes
constexpr double kTolerance = 1e-4;  // for leaf models before convergence, relative to the loss of a row
constexpr double kLastTolerance = 1e-11;

// Moves the rows that go left to the front, keeping the order of both sides. left : of each row; returns their number.
size_t part(uint32_t* rows, const uint8_t* left, size_t n, std::vector<uint32_t>& spare) {
  spare.resize(std::max(spare.size(), n));
  return divide_in_order(rows, n, spare.data(), [left](size_t i, uint32_t) -> size_t { return 1u - left[i]; });
}

// Sends rows down a branch, some hundred at a time: a plane is read once for all of them, and they stay in the cache.
class Router {
 public:
  // losses[i] = tree.loss(rows, which[i], node)
  void route(const RefinedTree& tree, const RefinementRows& rows, const uint32_t* which, size_t n, size_t node,
             double* losses) {
    if (tree.is_leaf(node)) return tree.at_leaf(rows, node, which, n, losses);
    for (size_t begin = 0; begin < n; begin += kTogether)
      route_block(tree, rows, which + begin, std::min(kTogether, n - begin), node, losses + begin);
  }

 private:
  static constexpr size_t kTogether = 256;
  static constexpr size_t kFew = 3;  // rows that go down one by one

  struct Part {
    size_t node, begin, end;
  };

  void route_block(const RefinedTree& tree, const RefinementRows& rows, const uint32_t* which, size_t n, size_t top,
                   double* losses) {
    for (uint32_t i = 0; i < n; ++i) {
      numbers_[i] = which[i];
      places_[i] = i;
    }
    parts_.assign(1, {top, 0, n});
    while (!parts_.empty()) {
      const Part here = parts_.back();
      parts_.pop_back();
      const size_t count = here.end - here.begin;
      if (tree.is_leaf(here.node)) {
        tree.at_leaf(rows, here.node, numbers_ + here.begin, count, found_);
        for (size_t i = 0; i < count; ++i) losses[places_[here.begin + i]] = found_[i];
        continue;
      }
      if (count <= kFew) {
        for (size_t i = here.begin; i < here.end; ++i) losses[places_[i]] = tree.loss(rows, numbers_[i], here.node);
        continue;
      }
      tree.sides(rows, numbers_ + here.begin, count, here.node, left_);
      const size_t cut = here.begin + part(numbers_ + here.begin, left_, count, spare_);
      part(places_ + here.begin, left_, count, spare_);
      parts_.push_back({tree.left_of(here.node), here.begin, cut});
      parts_.push_back({tree.right_of(here.node), cut, here.end});
    }
  }

  uint32_t numbers_[kTogether], places_[kTogether];
  uint8_t left_[kTogether];
  double found_[kTogether];
  std::vector<Part> parts_;
  std::vector<uint32_t> spare_;
};

class Alternation {
 public:
  Alternation(const RefinementRows& rows, const RefinementOptions& options, RefinedTree& tree,
              ReducedProblems& problems)
      : rows_(rows), options_(options), tree_(tree), problems_(problems), order_(rows.n), loss_(rows.n),
        seen_(tree.size(), 0) {
    if (!problems.orders) problems.orders = orders_of(rows);
    problems.begin_run();
    for (size_t i = 0; i < rows.n; ++i) total_ += rows.weight[i];
    if (options.leaves) fits_ = std::make_unique<LogisticFits>(rows, *options.leaves);
    if (options.numbers) fits_ = std::make_unique<MeanFits>(rows, *options.numbers);
    if (!fits_) return;
    tree.fits = fits_.get();
    if (tree.models.empty()) tree.models.assign(tree.size(), Scores(fits_->size(), 0.0));
    fitted_.assign(tree.size(), 0);
    whole_.assign(tree.size(), Whole());
  }

  Refinement run() {
    Refinement out;
    divide();
    out.before = measure();
    tidy();
    objective_ = measure();
    out.steps.push_back({0, -1, objective_});
    while (out.sweeps < options_.max_sweeps) {
      const double before = objective_;
      const bool changed = sweep(++out.sweeps, out.steps);
      divide();
      tidy();
      objective_ = measure();
      out.steps.push_back({out.sweeps, -1, objective_});
      if (!changed || before - objective_ <= options_.tolerance * before) {
        out.converged = true;
        break;
      }
    }
    if (fits_) {
      tolerance_ = kLastTolerance;
      fitted_.assign(tree_.size(), 0);
      for (const size_t leaf : leaves_)
        if (!places_[leaf].empty()) settle(leaf);
      divide();
      objective_ = measure();
      out.steps.push_back({out.sweeps, -1, objective_});
    }
    out.after = objective_;
    return out;
  }

 private:
  struct Place {  // range of a node's rows in order_
    size_t begin = 0, end = 0;
    bool empty() const { return begin == end; }
  };

  // Divides the rows among the nodes, each in ascending order: sums do not depend on earlier shapes of the tree.
  void divide() {
    places_.assign(tree_.size(), Place());
    std::iota(order_.begin(), order_.end(), 0u);
    places_[0] = {0, rows_.n};
    levels_.clear();
    leaves_.clear();
    std::vector<size_t> level{0}, next;
    while (!level.empty()) {
      levels_.emplace_back();
      next.clear();
      for (const size_t node : level) {
        const Place place = places_[node];
        if (tree_.is_leaf(node)) {
          leaves_.push_back(node);
          const uint32_t* rows = order_.data() + place.begin;
          const size_t n = place.end - place.begin;
          found_.resize(std::max(found_.size(), n));
          tree_.at_leaf(rows_, node, rows, n, found_.data());
          for (size_t i = 0; i < n; ++i) loss_[rows[i]] = found_[i];
          continue;
        }
        levels_.back().push_back(node);
        sides_.resize(rows_.n);
        tree_.sides(rows_, order_.data() + place.begin, place.end - place.begin, node, sides_.data());
        const size_t cut =
            place.begin + part(order_.data() + place.begin, sides_.data(), place.end - place.begin, spare_);
        places_[left(node)] = {place.begin, cut};
        places_[right(node)] = {cut, place.end};
        next.push_back(left(node));
        next.push_back(right(node));
        checkpoint((place.end - place.begin) * rows_.p);
      }
      level.swap(next);
    }
  }

  size_t left(size_t node) const { return tree_.left_of(node); }
  size_t right(size_t node) const { return tree_.right_of(node); }

  double price(size_t node) const {
    double sum = 0.0;
    for (size_t j = 0; j < rows_.p; ++j) sum += std::abs(tree_.plane(node)[j]);
    return options_.penalty * sum;
  }

  int32_t heaviest(const Place& place, double& wrong) {
    by_class_.assign(rows_.n_classes, 0.0);
    double sum = 0.0;
    for (size_t i = place.begin; i < place.end; ++i) {
      by_class_[rows_.y[order_[i]]] += rows_.weight[order_[i]];
      sum += rows_.weight[order_[i]];
    }
    const auto most = std::max_element(by_class_.begin(), by_class_.end());
    wrong = sum - *most;
    return static_cast<int32_t>(most - by_class_.begin());
  }

  // Prunes what no row needs, after the rows were divided: a leaf gets the label of most weight, the first of equals; a
  // branch without rows is replaced by its sibling; two sibling leaves of one label are joined.
  void tidy() {
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
      for (const size_t node : *level) {
        for (const size_t child : {left(node), right(node)})
          if (tree_.is_leaf(child) && !places_[child].empty()) settle(child);
        if (places_[left(node)].empty() != places_[right(node)].empty()) {
          take_place(node, places_[left(node)].empty() ? right(node) : left(node));
        } else if (!fits_ && tree_.is_leaf(left(node)) && tree_.is_leaf(right(node)) &&
                   tree_.label[left(node)] == tree_.label[right(node)]) {
          make_leaf(node, tree_.label[left(node)]);
        }
      }
    if (tree_.is_leaf(0)) settle(0);
    divide();
  }

  // Gives a leaf the best values for its rows: the label of most weight, and the model of least loss plus ridge.
  void settle(size_t leaf) {
    double wrong;
    const Place place = places_[leaf];
    tree_.label[leaf] = heaviest(place, wrong);
    if (!fits_) return;
    uint64_t digest = kDigest;
    for (size_t i = place.begin; i < place.end; ++i) digest = digested(digest, order_[i], false);
    if (fitted_[leaf] == digest) return;
    fitted_[leaf] = digest;
    const uint32_t* rows = order_.data() + place.begin;
    const size_t n = place.end - place.begin;
    tree_.models[leaf] = fits_->fit(rows, n, solver_, tree_.models[leaf], tolerance_).scores;
  }

  void take_place(size_t node, size_t child) {
    tree_.set_plane(node, tree_.plane(child), tree_.thresholds[child]);
    tree_.missing_left[node] = tree_.missing_left[child];
    tree_.label[node] = tree_.label[child];
    seen_[node] = seen_[child];
    if (fits_) {
      tree_.models[node] = std::move(tree_.models[child]);
      fitted_[node] = fitted_[child];
      whole_[node] = std::move(whole_[child]);
    }
    tree_.set_children(node, tree_.left[child], tree_.right[child]);
  }

  void make_leaf(size_t node, int32_t label) {
    tree_.set_children(node, -1, -1);
    tree_.label[node] = label;
    std::fill_n(tree_.plane(node), rows_.p, 0.0);
    tree_.thresholds[node] = 0.0;
  }

  // E of the tree after its rows were divided.
  double measure() const {
    double sum = 0.0;
    for (size_t i = 0; i < rows_.n; ++i) sum += rows_.weight[i] * loss_[i];
    for (const auto& level : levels_)
      for (const size_t node : level) sum += price(node);
    if (fits_)
      for (const size_t leaf : leaves_) sum += fits_->ridge(tree_.models[leaf]);
    return sum;
  }

  // The buffers of a thread that updates nodes.
  struct Worker {
    Worker(const RefinementRows& rows, ReducedProblems& problems, const RefinementOptions& options)
        : update(rows, problems, options) {}
    NodeUpdate update;
    PlaneCandidate candidate;
    std::vector<CareRow> care;
    std::vector<double> of_left, of_right, by_class;
    std::vector<uint8_t> sides;  // sides of the node's rows by the candidate
    Router router;
    SoftmaxSolver solver;
  };

  // A node as a leaf with a model, and the rows that the model was fitted to.
  struct Whole {
    uint64_t digest = 0;
    LeafFit fit;
  };

  // A division of a leaf: the classes of its children, and the decrease of E.
  struct Division {
    PlaneCandidate plane;
    int32_t label_left = 0, label_right = 0;
    double fall = 0.0;
  };

  // Divides leaves where the division lowers E; returns whether it divided any.
  bool split_leaves(int number, std::vector<RefinementStep>& steps) {
    std::vector<Division> divisions(leaves_.size());
    on_threads(leaves_.size(), options_.n_threads, [&]() {
      return [&, worker = Worker(rows_, problems_, options_)](size_t i) mutable {
        divisions[i] = division(leaves_[i], worker);
      };
    });
    bool changed = false;
    for (size_t i = 0; i < divisions.size(); ++i) {
      if (!(divisions[i].fall > 0.0)) continue;
      divide_leaf(leaves_[i], divisions[i]);
      objective_ -= divisions[i].fall;
      changed = true;
      steps.push_back({number, static_cast<int32_t>(leaves_[i]), objective_});
    }
    return changed;
  }

  Division division(size_t leaf, Worker& worker) {
    Division out;
    const Place place = places_[leaf];
    worker.by_class.assign(rows_.n_classes, 0.0);
    uint64_t digest = kDigest;
    for (size_t i = place.begin; i < place.end; ++i) {
      worker.by_class[rows_.y[order_[i]]] += rows_.weight[order_[i]];
      digest = digested(digest, order_[i], false);
    }
    if (seen_[leaf] == digest) return out;
    seen_[leaf] = digest;
    const auto first = std::max_element(worker.by_class.begin(), worker.by_class.end());
    out.label_left = static_cast<int32_t>(first - worker.by_class.begin());
    *first = -1.0;
    const auto second = std::max_element(worker.by_class.begin(), worker.by_class.end());
    out.label_right = static_cast<int32_t>(second - worker.by_class.begin());
    if (!(*second > options_.penalty)) return out;  // a plane costs at least the penalty and saves at most this class
    worker.care.clear();
    for (size_t i = place.begin; i < place.end; ++i) {
      const uint32_t row = order_[i];
      if (rows_.y[row] == out.label_left || rows_.y[row] == out.label_right)
        worker.care.push_back({row, rows_.y[row] == out.label_right, rows_.weight[row]});
    }
    const std::vector<double> nothing(rows_.p, 0.0);
    const double enough = *second * (1.0 + kSlack);
    if (!worker.update.propose(worker.care, nothing.data(), 0.0, enough, worker.candidate)) return out;
    const RefinedTree alone = stump(worker.candidate);
    double wrong = 0.0;
    for (const CareRow& each : worker.care)
      if (alone.goes_left(rows_, each.row, 0) == each.right) wrong += each.weight;
    // The leaf has the label of most weight; a division can correct the rows of the second class only.
    out.fall = *second - wrong - options_.penalty * worker.candidate.length;
    if (!(out.fall > kFall * total_)) out.fall = 0.0;
    if (out.fall > 0.0) out.plane = worker.candidate;
    return out;
  }

  void divide_leaf(size_t leaf, const Division& division) {
    const auto child = static_cast<int32_t>(tree_.size());
    for (const int32_t label : {division.label_left, division.label_right}) {
      tree_.add_node();
      tree_.missing_left.push_back(0);
      tree_.label.push_back(label);
      places_.push_back(Place());
      seen_.push_back(0);
      below_.push_back(0.0);
    }
    tree_.set_children(leaf, child, child + 1);
    tree_.set_plane(leaf, division.plane.w.data(), -division.plane.b);
    tree_.missing_left[leaf] = division.plane.missing_left;
    seen_[leaf] = 0;
    below_[leaf] = price(leaf);
    for (size_t i = places_[leaf].begin; i < places_[leaf].end; ++i)
      loss_[order_[i]] = tree_.loss(rows_, order_[i], leaf);
  }

  // Updates every node once, the deepest first; returns whether any changed.
  bool sweep(int number, std::vector<RefinementStep>& steps) {
    below_.assign(tree_.size(), 0.0);
    if (fits_)
      for (const size_t leaf : leaves_) below_[leaf] = fits_->ridge(tree_.models[leaf]);
    std::vector<double> falls;
    bool changed = options_.split_leaves && split_leaves(number, steps);
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      falls.assign(level->size(), 0.0);
      on_threads(level->size(), options_.n_threads, [&]() {
        return [&, worker = Worker(rows_, problems_, options_)](size_t i) mutable {
          falls[i] = renew((*level)[i], worker);
        };
      });
      for (size_t i = 0; i < level->size(); ++i) {
        objective_ -= falls[i];
        changed = changed || falls[i] > 0.0;
        steps.push_back({number, static_cast<int32_t>((*level)[i]), objective_});
      }
    }
    return changed;
  }

  // Updates a node; returns the decrease of E. below_[node] : the cost of its branch beside the losses of rows.
  double renew(size_t node, Worker& worker) {
    const Place place = places_[node];
    const size_t n = place.end - place.begin, l = left(node), r = right(node);
    const uint32_t* rows = order_.data() + place.begin;
    const double planes = below_[l] + below_[r];
    worker.of_left.resize(n);
    worker.of_right.resize(n);
    // The rows are divided by the present plane; this computes their cost on the other side.
    const size_t n_left = places_[l].end - place.begin;
    worker.router.route(tree_, rows_, rows, n_left, r, worker.of_right.data());
    worker.router.route(tree_, rows_, rows + n_left, n - n_left, l, worker.of_left.data() + n_left);
    worker.care.clear();
    worker.by_class.assign(rows_.n_classes, 0.0);
    double wrong_left = 0.0, wrong_right = 0.0, wrong_now = 0.0, wrong_both = 0.0, sum = 0.0;
    uint64_t digest = kDigest;
    for (size_t i = 0; i < n; ++i) {
      const uint32_t row = rows[i];
      const double weight = rows_.weight[row];
      const bool goes_left = i < n_left;
      (goes_left ? worker.of_left : worker.of_right)[i] = loss_[row];
      const double on_left = weight * worker.of_left[i], on_right = weight * worker.of_right[i];
      worker.by_class[rows_.y[row]] += weight;
      sum += weight;
      wrong_left += on_left;
      wrong_right += on_right;
      wrong_now += goes_left ? on_left : on_right;
      wrong_both += std::min(on_left, on_right);
      if (std::abs(worker.of_left[i] - worker.of_right[i]) < kCares) continue;
      worker.care.push_back({row, on_right < on_left, std::abs(on_left - on_right)});
      digest = digested(digest, row, on_right < on_left);
      if (fits_) digest = digested(digest, worker.care.back().weight);
    }
    checkpoint(n * rows_.p);
    const double now = wrong_now + price(node) + planes, fall = kFall * total_;
    const auto most = std::max_element(worker.by_class.begin(), worker.by_class.end());
    double best = now - fall;
    enum { present, leaf, all_left, all_right, plane } choice = present;
    const auto consider = [&](double cost, auto what) {
      if (cost >= best) return;
      best = cost;
      choice = what;
    };
    consider(fits_ ? as_leaf(node, rows, n, worker) : sum - *most, leaf);
    consider(wrong_left + below_[l], all_left);
    consider(wrong_right + below_[r], all_right);
    // If the rows prefer the same sides as in the last search for a plane, no better plane exists. Nor does one if a
    // plane of a single feature already sends all rows to their side.
    const double least = (wrong_both + options_.penalty + planes) * (1.0 - kRounding);
    const double enough = best * (1.0 + kSlack) - wrong_both - planes;
    if (seen_[node] != digest && least < best &&
        worker.update.propose(worker.care, tree_.plane(node), -tree_.thresholds[node], enough, worker.candidate))
      consider(cost_of(worker, rows, n) + options_.penalty * worker.candidate.length + planes, plane);
    seen_[node] = digest;
    switch (choice) {
      case present: below_[node] = price(node) + planes; return 0.0;
      case leaf:
        make_leaf(node, static_cast<int32_t>(most - worker.by_class.begin()));
        below_[node] = 0.0;
        if (fits_) {
          tree_.models[node] = whole_[node].fit.scores;
          below_[node] = fits_->ridge(tree_.models[node]);
        }
        tree_.at_leaf(rows_, node, rows, n, worker.of_left.data());
        for (size_t i = 0; i < n; ++i) loss_[rows[i]] = worker.of_left[i];
        return now - best;
      case all_left:
      case all_right:
        std::fill_n(tree_.plane(node), rows_.p, 0.0);
        tree_.thresholds[node] = choice == all_left ? 1.0 : -1.0;
        below_[node] = below_[choice == all_left ? l : r];
        for (size_t i = 0; i < n; ++i) loss_[rows[i]] = (choice == all_left ? worker.of_left : worker.of_right)[i];
        break;
      case plane:
        tree_.set_plane(node, worker.candidate.w.data(), -worker.candidate.b);
        tree_.missing_left[node] = worker.candidate.missing_left;
        below_[node] = price(node) + planes;
        for (size_t i = 0; i < n; ++i) loss_[rows[i]] = worker.sides[i] ? worker.of_left[i] : worker.of_right[i];
        break;
    }
    return now - best;
  }

  // The cost of a node as a leaf with a model, which is stored until the rows change.
  double as_leaf(size_t node, const uint32_t* rows, size_t n, Worker& worker) {
    uint64_t digest = kDigest;
    for (size_t i = 0; i < n; ++i) digest = digested(digest, rows[i], false);
    if (whole_[node].digest != digest) {
      const LeafFit fit = fits_->fit(rows, n, worker.solver, whole_[node].fit.scores, kTolerance);
      whole_[node] = {digest, fit};
    }
    return whole_[node].fit.cost;
  }

  // A plane as a tree of one node, for the arithmetic of the tree.
  RefinedTree stump(const PlaneCandidate& plane) const {
    RefinedTree alone;
    alone.n_features = rows_.p;
    alone.weights = plane.w;
    alone.thresholds = {-plane.b};
    alone.missing_left = {static_cast<uint8_t>(plane.missing_left)};
    return alone;
  }

  // The cost of a node's rows with the candidate's plane, by the arithmetic of the tree.
  double cost_of(Worker& worker, const uint32_t* rows, size_t n) const {
    worker.sides.resize(n);
    stump(worker.candidate).sides(rows_, rows, n, 0, worker.sides.data());
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i)
      sum += rows_.weight[rows[i]] * (worker.sides[i] ? worker.of_left[i] : worker.of_right[i]);
    return sum;
  }

  const RefinementRows& rows_;
  const RefinementOptions& options_;
  RefinedTree& tree_;
  ReducedProblems& problems_;
  std::vector<uint32_t> order_;
  std::vector<double> loss_;    // in the branch that the sweep is updating, for every row
  std::vector<uint64_t> seen_;  // digest of the rows that counted in the last search for a plane
  std::vector<Place> places_;
  std::vector<std::vector<size_t>> levels_;  // decision nodes by depth
  std::vector<size_t> leaves_;
  std::vector<double> below_, by_class_;
  std::vector<uint8_t> sides_;
  std::vector<uint32_t> spare_;
  std::vector<double> found_;
  double total_ = 0.0, objective_ = 0.0;
  std::unique_ptr<LeafFits> fits_;  // if leaves have models
  std::vector<uint64_t> fitted_;    // digest of a leaf's rows when its model was fitted last
  std::vector<Whole> whole_;        // of decision nodes
  double tolerance_ = kTolerance;   // of the models of leaves
  SoftmaxSolver solver_;
};

}  // namespace

Refinement refine(const RefinementRows& rows, const RefinementOptions& options, RefinedTree& tree,
                  ReducedProblems& problems) {
  return Alternation(rows, options, tree, problems).run();
}

}  // namespace oblique
