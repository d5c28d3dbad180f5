// Hierarchies over a dissimilarity matrix: AVALANCHE, STAXAC, neighbour joining, the Gabriel graph, and the hill climbing
// of supervised clustering. Amalaman (2015), chapters 4 to 6.
//
// Matrices are condensed as SciPy has them: d(0,1), d(0,2), ..., d(1,2), ... for n (n - 1) / 2 pairs of objects, in single
// or double precision. Objects are nodes 0 .. n - 1 of a tree, joins are nodes n .. 2n - 2, children before parents, the
// root last.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace oblique {

// Positions in a condensed matrix. `start[i] + j` is where d(i, j) is for i < j.
class Pairs {
 public:
  explicit Pairs(std::size_t n) : n_(n), start_(n) {
    // start_[0] is -1 in wrapping arithmetic; no pair of object 0 has j = 0.
    for (std::size_t i = 0; i < n; ++i) start_[i] = i * n - i * (i + 1) / 2 - i - 1;
  }
  std::size_t n() const { return n_; }
  std::size_t operator()(std::size_t i, std::size_t j) const { return i < j ? start_[i] + j : start_[j] + i; }

 private:
  std::size_t n_;
  std::vector<std::size_t> start_;
};

// A binary tree, join by join: children of join k (node n + k) are left[k] and right[k].
struct Joins {
  std::vector<std::int64_t> left, right;
  std::vector<double> heights;
  explicit Joins(std::size_t n) : left(n - 1), right(n - 1), heights(n - 1) {}
};

// ---- AVALANCHE -------------------------------------------------------------------------------------------------------

// One move that AVALANCHE tried: in the split of `node`, `object` to the right, after which the sides were `between`
// apart in total; `kept` if that was more than before.
struct Move {
  std::int64_t node, object;
  double between;
  bool kept;
};

// Section 4.3, algorithm 1. `sums_` is the paper's vector vU, kept from node to node: for every object the sum of its
// distances to the objects of its node. After a split the sums of the smaller side are added up anew and those of the
// larger one lose what left, so a split costs |L| |R| and all splits together n (n - 1) / 2 distances. Finding the next
// link of the chain costs |L| a move on top.
//
// Sums are compared with a slack of 1e-9 of the node's largest one. Subtraction leaves rounding errors; where they could
// come within a hundredth of the slack, the sums of the node are added up anew.
template <class T>
class Avalanche {
 public:
  Avalanche(const T* distances, std::size_t n, bool traced)
      : d_(distances), at_(n), traced_(traced), members_(n), sums_(n, 0.0), joins(n) {
    std::iota(members_.begin(), members_.end(), std::size_t{0});
  }

  void run() {
    const std::size_t n = at_.n();
    add_up(members_.data(), n);
    std::vector<Task> open{{0, n, 0, false, 0.0}};
    std::size_t join = n - 1;  // the root is the last node
    while (!open.empty()) {
      const Task task = open.back();
      open.pop_back();
      std::int64_t node;
      if (task.size == 1) {
        node = static_cast<std::int64_t>(members_[task.begin]);
      } else {
        node = static_cast<std::int64_t>(n + --join);
        split(task, join, open);
      }
      if (node < static_cast<std::int64_t>(2 * n - 2)) (task.is_right ? joins.right : joins.left)[task.parent] = node;
    }
  }

 private:
  // A node to be split: its members, the join it is a child of, and the largest sum that rounding errors stem from.
  struct Task {
    std::size_t begin, size, parent;
    bool is_right;
    double magnitude;
  };
  static constexpr double slack = 1e-9;

  double distance(std::size_t i, std::size_t j) const { return static_cast<double>(d_[at_(i, j)]); }

  // Adds up the sums of some objects, by each other only.
  void add_up(const std::size_t* objects, std::size_t count) {
    for (std::size_t a = 0; a < count; ++a) sums_[objects[a]] = 0.0;
    for (std::size_t a = 0; a < count; ++a) {
      double sum = 0.0;
      for (std::size_t b = a + 1; b < count; ++b) {
        const double v = distance(objects[a], objects[b]);
        sum += v;
        sums_[objects[b]] += v;
      }
      sums_[objects[a]] += sum;
    }
  }

  double largest_sum(const std::size_t* objects, std::size_t count) const {
    double largest = 0.0;
    for (std::size_t a = 0; a < count; ++a) largest = std::max(largest, sums_[objects[a]]);
    return largest;
  }

  void split(const Task& task, std::size_t join, std::vector<Task>& open) {
    std::size_t* members = members_.data() + task.begin;
    double largest = largest_sum(members, task.size);
    double magnitude = std::max(task.magnitude, largest);
    const double error = static_cast<double>(at_.n()) * std::numeric_limits<double>::epsilon() * magnitude;
    if (task.magnitude > 0.0 && error > 0.01 * slack * largest) {
      add_up(members, task.size);
      magnitude = largest = largest_sum(members, task.size);
    }

    // The anti-medoid, of equals the first. `left_` stays in rising order, so that the first of equals has the lowest
    // number.
    left_.assign(members, members + task.size);
    right_.clear();
    std::size_t next = 0;
    while (sums_[left_[next]] < largest - slack * largest) ++next;
    double between = sums_[left_[next]];
    note(join, left_[next], between, true);
    for (;;) {
      const std::size_t last = left_[next];
      right_.push_back(last);
      left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(next));
      if (left_.size() == 1) break;  // a side may not run empty
      next = nearest(last);
      const std::size_t object = left_[next];
      const double inward = sum_to(object, left_.size() < right_.size() ? left_ : right_);
      const double outward = sums_[object] - inward;
      const double gain = left_.size() < right_.size() ? inward - outward : outward - inward;
      const bool kept = gain > slack * largest;
      note(join, object, between + gain, kept);
      if (!kept) break;
      between += gain;
    }

    std::sort(right_.begin(), right_.end());
    std::copy(left_.begin(), left_.end(), members);
    std::copy(right_.begin(), right_.end(), members + left_.size());
    joins.heights[join] = between / (static_cast<double>(left_.size()) * static_cast<double>(right_.size()));
    const bool right_is_smaller = right_.size() <= left_.size();
    const std::vector<std::size_t>& small = right_is_smaller ? right_ : left_;
    const std::vector<std::size_t>& large = right_is_smaller ? left_ : right_;
    for (const std::size_t i : small)
      for (const std::size_t j : large) sums_[j] -= distance(i, j);
    for (const std::size_t j : large) sums_[j] = std::max(0.0, sums_[j]);
    add_up(small.data(), small.size());
    open.push_back({task.begin, left_.size(), join, false, right_is_smaller ? magnitude : 0.0});
    open.push_back({task.begin + left_.size(), right_.size(), join, true, right_is_smaller ? 0.0 : magnitude});
  }

  // Position in left_ of the object nearest to `object`, of equals the first.
  std::size_t nearest(std::size_t object) const {
    std::size_t best = 0;
    T least = d_[at_(object, left_[0])];
    for (std::size_t k = 1; k < left_.size(); ++k) {
      const T v = d_[at_(object, left_[k])];
      if (v < least) {
        least = v;
        best = k;
      }
    }
    return best;
  }

  double sum_to(std::size_t object, const std::vector<std::size_t>& others) const {
    double sum = 0.0;
    for (const std::size_t other : others)
      if (other != object) sum += distance(object, other);
    return sum;
  }

  void note(std::size_t join, std::size_t object, double between, bool kept) {
    if (traced_)
      moves.push_back({static_cast<std::int64_t>(at_.n() + join), static_cast<std::int64_t>(object), between, kept});
  }

  const T* d_;
  Pairs at_;
  bool traced_;
  std::vector<std::size_t> members_, left_, right_;
  std::vector<double> sums_;

 public:
  Joins joins;
  std::vector<Move> moves;
};

// ---- STAXAC ----------------------------------------------------------------------------------------------------------

// Section 5.3, algorithm 1. Clusters live in the slot of their first object. `sums` is a condensed matrix of the caller
// that is written to: the sum of distances between two clusters, whose average decides between merges of one purity and
// between neighbours once the graph has run out of edges.
//
// Purity of a clustering is the sum over clusters of the rows in their majority class; a merge lowers it by `loss`. Every
// cluster keeps its best candidate, so a merge costs the neighbours of both clusters and one pass over all clusters.
template <class T>
class Staxac {
 public:
  Staxac(T* sums, const std::int32_t* codes, std::size_t n, std::size_t n_classes)
      : sums_(sums), at_(n), n_classes_(n_classes), counts_(n * n_classes, 0), majority_(n, 1), size_(n, 1.0), node_(n),
        active_(n), neighbours_(n), best_(n), joins(n) {
    for (std::size_t i = 0; i < n; ++i) counts_[i * n_classes + static_cast<std::size_t>(codes[i])] = 1;
    std::iota(node_.begin(), node_.end(), std::int64_t{0});
    std::iota(active_.begin(), active_.end(), std::size_t{0});
  }

  // Has the graph of nearest neighbours made anew after every merge, instead of handing edges on to the union.
  void renew() {
    renewing_ = true;
    nearest_.assign(at_.n(), 0);
  }

  // Adds an edge of the proximity graph. Without any, the graph of nearest neighbours is taken.
  void add_edge(std::size_t i, std::size_t j) {
    neighbours_[i].push_back(j);
    neighbours_[j].push_back(i);
    given_ = true;
  }

  void run() {
    std::size_t join = 0;
    if (renewing_ && active_.size() > 1) {
      for (const std::size_t i : active_) seek(i);
      while (active_.size() > 1) {
        ++rounds;
        const Candidate* chosen = &best_[active_[0]];
        for (const std::size_t i : active_)
          if (best_[i] < *chosen) chosen = &best_[i];
        const std::size_t a = chosen->low, b = chosen->high;
        unite(a, b, join++);
        if (active_.size() == 1) break;
        seek(a);
        for (const std::size_t c : active_) {
          if (c == a) continue;
          if (nearest_[c] == a || nearest_[c] == b)
            seek(c);
          else if (std::pair(average(c, a), a) < std::pair(average(c, nearest_[c]), nearest_[c]))
            nearest_[c] = a, best_[c] = candidate(c, a);
        }
      }
    }
    while (active_.size() > 1) {
      if (!given_ || rounds > 0) link_nearest();
      ++rounds;
      for (const std::size_t i : active_) {
        std::sort(neighbours_[i].begin(), neighbours_[i].end());
        neighbours_[i].erase(std::unique(neighbours_[i].begin(), neighbours_[i].end()), neighbours_[i].end());
        look_around(i);
      }
      for (;;) {
        const Candidate* chosen = &none_;
        for (const std::size_t i : active_)
          if (best_[i] < *chosen) chosen = &best_[i];
        if (chosen == &none_) break;
        merge(chosen->low, chosen->high, join++);
      }
    }
  }

 private:
  // A merge that may be made, in the order of preference: purity lost, average distance, slots.
  struct Candidate {
    std::int64_t loss = std::numeric_limits<std::int64_t>::max();
    double average = std::numeric_limits<double>::infinity();
    std::size_t low = 0, high = 0;
    bool operator<(const Candidate& o) const {
      return std::tie(loss, average, low, high) < std::tie(o.loss, o.average, o.low, o.high);
    }
  };

  double average(std::size_t i, std::size_t j) const {
    return static_cast<double>(sums_[at_(i, j)]) / (size_[i] * size_[j]);
  }

  Candidate candidate(std::size_t i, std::size_t j) const {
    std::int64_t together = 0;
    for (std::size_t c = 0; c < n_classes_; ++c)
      together = std::max(together, counts_[i * n_classes_ + c] + counts_[j * n_classes_ + c]);
    return {majority_[i] + majority_[j] - together, average(i, j), std::min(i, j), std::max(i, j)};
  }

  void look_around(std::size_t i) {
    best_[i] = Candidate{};
    for (const std::size_t j : neighbours_[i]) best_[i] = std::min(best_[i], candidate(i, j));
  }

  // Finds the cluster nearest to `i` on average, of equals the first, and makes the pair its candidate.
  void seek(std::size_t i) {
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t j : active_) {
      if (j == i) continue;
      const double v = average(i, j);
      if (v < least) least = v, nearest_[i] = j;
    }
    best_[i] = candidate(i, nearest_[i]);
  }

  // The graph in which every cluster is linked with the one nearest to it on average, of equals the first.
  void link_nearest() {
    const std::size_t m = active_.size();
    std::vector<double> least(m, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> which(m, 0);
    for (std::size_t a = 0; a < m; ++a)
      for (std::size_t b = a + 1; b < m; ++b) {
        const double v = average(active_[a], active_[b]);
        if (v < least[a]) least[a] = v, which[a] = b;
        if (v < least[b]) least[b] = v, which[b] = a;
      }
    for (std::size_t a = 0; a < m; ++a) {
      neighbours_[active_[a]].push_back(active_[which[a]]);
      neighbours_[active_[which[a]]].push_back(active_[a]);
    }
  }

  // Cluster `b` joins cluster `a` and leaves its slot; a < b.
  void unite(std::size_t a, std::size_t b, std::size_t join) {
    joins.left[join] = node_[a];
    joins.right[join] = node_[b];
    joins.heights[join] = average(a, b);
    node_[a] = static_cast<std::int64_t>(at_.n() + join);
    active_.erase(std::lower_bound(active_.begin(), active_.end(), b));
    for (const std::size_t c : active_)
      if (c != a) sums_[at_(a, c)] += sums_[at_(b, c)];
    size_[a] += size_[b];
    majority_[a] = 0;
    for (std::size_t c = 0; c < n_classes_; ++c) {
      counts_[a * n_classes_ + c] += counts_[b * n_classes_ + c];
      majority_[a] = std::max(majority_[a], counts_[a * n_classes_ + c]);
    }
  }

  // The same, and the union takes over the edges of both.
  void merge(std::size_t a, std::size_t b, std::size_t join) {
    unite(a, b, join);
    // The neighbours of the union are those of both, but for themselves.
    std::vector<std::size_t> both;
    std::set_union(neighbours_[a].begin(), neighbours_[a].end(), neighbours_[b].begin(), neighbours_[b].end(),
                   std::back_inserter(both));
    std::erase_if(both, [&](std::size_t c) { return c == a || c == b; });
    for (const std::size_t c : neighbours_[b]) {
      if (c == a) continue;
      std::vector<std::size_t>& list = neighbours_[c];
      list.erase(std::lower_bound(list.begin(), list.end(), b));
      const auto place = std::lower_bound(list.begin(), list.end(), a);
      if (place == list.end() || *place != a) list.insert(place, a);
    }
    neighbours_[a] = std::move(both);
    neighbours_[b].clear();
    look_around(a);
    for (const std::size_t c : neighbours_[a]) {
      const Candidate& old = best_[c];
      const std::size_t partner = old.low == c ? old.high : old.low;
      if (partner == a || partner == b)
        look_around(c);
      else
        best_[c] = std::min(best_[c], candidate(c, a));
    }
  }

  T* sums_;
  Pairs at_;
  std::size_t n_classes_;
  std::vector<std::int64_t> counts_, majority_;
  std::vector<double> size_;
  std::vector<std::int64_t> node_;
  std::vector<std::size_t> active_;  // slots in use, rising
  std::vector<std::vector<std::size_t>> neighbours_;
  std::vector<Candidate> best_;
  const Candidate none_{};
  std::vector<std::size_t> nearest_;
  bool given_ = false, renewing_ = false;

 public:
  Joins joins;
  std::int64_t rounds = 0;  // how often a graph was made: once more each time that candidates ran out
};

// Edges of the Gabriel graph: i and j are neighbours unless some k lies in the ball that has them as poles, that is
// d(i,k)^2 + d(j,k)^2 < d(i,j)^2. Cubic where few pairs are blocked early.
template <class T>
std::vector<std::int32_t> gabriel_edges(const T* d, std::size_t n) {
  const Pairs at(n);
  std::vector<std::int32_t> edges;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t blocker = 0;  // of the last pair, often that of the next one too
    for (std::size_t j = i + 1; j < n; ++j) {
      const double dij = static_cast<double>(d[at(i, j)]), square = dij * dij;
      const auto blocks = [&](std::size_t k) {
        if (k == i || k == j) return false;
        const double a = static_cast<double>(d[at(i, k)]), b = static_cast<double>(d[at(j, k)]);
        return a * a + b * b < square;
      };
      bool free = !blocks(blocker);
      for (std::size_t k = 0; free && k < n; ++k)
        if (blocks(k)) {
          free = false;
          blocker = k;
        }
      if (free) {
        edges.push_back(static_cast<std::int32_t>(i));
        edges.push_back(static_cast<std::int32_t>(j));
      }
    }
  }
  return edges;
}

// ---- neighbour joining -----------------------------------------------------------------------------------------------

// Saitou and Nei (1987). `d` is a square matrix of the caller that is written to. Joins go on to the last two clusters,
// whose join is the root (Amalaman 2015, section 5.5.1.1); `lengths[node]` is that of the branch above a node, half the
// last distance for both children of the root. Of pairs whose criterion is equal within 1e-10 of the largest distance sum
// the first is joined.
struct NeighborJoining {
  Joins joins;
  std::vector<double> lengths;

  NeighborJoining(double* d, std::size_t n) : joins(n), lengths(2 * n - 1, 0.0) {
    std::vector<std::size_t> slot(n);
    std::vector<std::int64_t> node(n);
    std::vector<double> sums(n, 0.0);
    std::iota(slot.begin(), slot.end(), std::size_t{0});
    std::iota(node.begin(), node.end(), std::int64_t{0});
    for (std::size_t join = 0; slot.size() > 1; ++join) {
      const std::size_t m = slot.size();
      double largest = 0.0;
      for (const std::size_t i : slot) {
        sums[i] = 0.0;
        for (const std::size_t j : slot) sums[i] += d[i * n + j];
        largest = std::max(largest, std::abs(sums[i]));
      }
      double least = std::numeric_limits<double>::infinity();
      std::size_t a = slot[0], b = slot[1];
      const double weight = static_cast<double>(m) - 2.0;
      for (std::size_t s = 0; s < m; ++s)
        for (std::size_t t = s + 1; t < m; ++t) {
          const double q = weight * d[slot[s] * n + slot[t]] - sums[slot[s]] - sums[slot[t]];
          if (q < least - 1e-10 * largest) {
            least = q;
            a = slot[s];
            b = slot[t];
          }
        }
      const double dab = d[a * n + b];
      const double to_a = m > 2 ? 0.5 * dab + 0.5 * (sums[a] - sums[b]) / weight : 0.5 * dab;
      lengths[static_cast<std::size_t>(node[a])] = to_a;
      lengths[static_cast<std::size_t>(node[b])] = dab - to_a;
      joins.left[join] = node[a];
      joins.right[join] = node[b];
      joins.heights[join] = dab;
      for (const std::size_t k : slot) {
        if (k == a || k == b) continue;
        d[a * n + k] = d[k * n + a] = 0.5 * (d[a * n + k] + d[b * n + k] - dab);
      }
      node[a] = static_cast<std::int64_t>(n + join);
      slot.erase(std::find(slot.begin(), slot.end(), b));
    }
  }
};

// ---- supervised clustering -------------------------------------------------------------------------------------------

// One climb of SRIDHCR (Eick, Zeidat and Zhao 2004): representatives are added or removed one at a time, always the best
// such change, until none improves q = impurity + weight * sqrt(max(0, k - c) / n). A change that leaves q as it is
// counts as better if it adds one. Equals: the lowest number, adding before removing.
class Representatives {
 public:
  Representatives(const double* d, const std::int32_t* codes, std::size_t n, std::size_t n_classes, double weight)
      : d_(d), codes_(codes), n_(n), n_classes_(n_classes), weight_(weight), owner_(n) {
    std::vector<char> seen(n_classes, 0);
    for (std::size_t i = 0; i < n; ++i) present_ += !std::exchange(seen[static_cast<std::size_t>(codes[i])], 1);
  }

  // Climbs from `chosen` (rising, not empty) and leaves the end there; returns its q.
  double climb(std::vector<std::size_t>& chosen) {
    double q = assign(chosen);
    for (;;) {
      double best = std::numeric_limits<double>::infinity();
      std::size_t change = n_;
      bool adding = true;
      const auto consider = [&](double value, std::size_t r, bool adds) {
        if (value < best - tie) best = value, change = r, adding = adds;
      };
      for (std::size_t r = 0; r < n_; ++r)
        if (!std::binary_search(chosen.begin(), chosen.end(), r)) consider(with(r, chosen.size()), r, true);
      std::vector<std::size_t> fewer;
      for (std::size_t k = 0; chosen.size() > 1 && k < chosen.size(); ++k) {
        fewer = chosen;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
        consider(score(fewer), chosen[k], false);
      }
      const bool better = change < n_ && (best < q - tie || (best <= q + tie && adding));
      if (!better) return q;
      if (adding)
        chosen.insert(std::lower_bound(chosen.begin(), chosen.end(), change), change);
      else
        chosen.erase(std::lower_bound(chosen.begin(), chosen.end(), change));
      q = assign(chosen);
    }
  }

 private:
  static constexpr double tie = 1e-12;

  // Which of the representatives a row is nearest to, of equals the first.
  std::size_t nearest(std::size_t row, const std::vector<std::size_t>& chosen) const {
    std::size_t best = 0;
    for (std::size_t k = 1; k < chosen.size(); ++k)
      if (d_[row * n_ + chosen[k]] < d_[row * n_ + chosen[best]]) best = k;
    return best;
  }

  double score(const std::vector<std::size_t>& chosen) {
    counts_.assign(chosen.size() * n_classes_, 0);
    for (std::size_t i = 0; i < n_; ++i)
      ++counts_[nearest(i, chosen) * n_classes_ + static_cast<std::size_t>(codes_[i])];
    return q_of(counts_, chosen.size());
  }

  // Remembers the clusters of `chosen` as well.
  double assign(const std::vector<std::size_t>& chosen) {
    chosen_ = chosen;
    for (std::size_t i = 0; i < n_; ++i) owner_[i] = nearest(i, chosen);
    const double q = score(chosen);
    assigned_ = counts_;
    return q;
  }

  // q of what was assigned with one representative more: the rows that are nearer to it change hands.
  double with(std::size_t added, std::size_t k) {
    counts_ = assigned_;
    counts_.resize((k + 1) * n_classes_, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      const double now = d_[i * n_ + chosen_[owner_[i]]], then = d_[i * n_ + added];
      if (then < now || (then == now && added < chosen_[owner_[i]])) {
        --counts_[owner_[i] * n_classes_ + static_cast<std::size_t>(codes_[i])];
        ++counts_[k * n_classes_ + static_cast<std::size_t>(codes_[i])];
      }
    }
    return q_of(counts_, k + 1);
  }

  double q_of(const std::vector<std::int32_t>& counts, std::size_t k) const {
    std::int64_t right = 0;
    for (std::size_t p = 0; p < k; ++p)
      right += *std::max_element(counts.begin() + static_cast<std::ptrdiff_t>(p * n_classes_),
                                 counts.begin() + static_cast<std::ptrdiff_t>((p + 1) * n_classes_));
    const double rows = static_cast<double>(n_);
    const double excess = k > present_ ? static_cast<double>(k - present_) : 0.0;
    return (rows - static_cast<double>(right)) / rows + weight_ * std::sqrt(excess / rows);
  }

  const double* d_;
  const std::int32_t* codes_;
  std::size_t n_, n_classes_;
  double weight_;
  std::size_t present_ = 0;
  std::vector<std::size_t> owner_, chosen_;
  std::vector<std::int32_t> counts_, assigned_;
};

}  // namespace oblique
