// STAXAC: an agglomerative hierarchy that keeps classes together. Amalaman (2015), chapter 5.
#pragma once

#include "common/interrupt.hpp"
#include "hierarchy/joins.hpp"

namespace oblique {

// Section 5.3, algorithm 1. A cluster uses the slot of its first object. `sums` is the caller's condensed matrix, which
// is overwritten: the sum of distances between two clusters. Their average decides between merges of equal purity, and
// between neighbors after the graph has run out of edges.
// Purity of a clustering is the sum over clusters of the rows in their majority class; a merge lowers it by `loss`.
// Every cluster stores its best candidate, so a merge costs the neighbors of both clusters and one pass over all
// clusters.
template <class T>
class Staxac {
 public:
  Staxac(T* sums, const int32_t* codes, size_t n, size_t n_classes)
      : sums_(sums), at_(n), n_classes_(n_classes), counts_(n * n_classes, 0), majority_(n, 1), size_(n, 1.0), node_(n),
        active_(n), neighbors_(n), best_(n), joins(n) {
    for (size_t i = 0; i < n; ++i) counts_[i * n_classes + static_cast<size_t>(codes[i])] = 1;
    std::iota(node_.begin(), node_.end(), int64_t{0});
    std::iota(active_.begin(), active_.end(), size_t{0});
  }

  // Rebuilds the graph of nearest neighbors after every merge, instead of passing edges on to the union.
  void renew() {
    renewing_ = true;
    nearest_.assign(at_.n(), 0);
  }

  // Adds an edge of the proximity graph. Without any edge, the graph of nearest neighbors is used.
  void add_edge(size_t i, size_t j) {
    neighbors_[i].push_back(j);
    neighbors_[j].push_back(i);
    given_ = true;
  }

  void run() {
    size_t join = 0;
    if (renewing_ && active_.size() > 1) {
      for (const size_t i : active_) seek(i);
      while (active_.size() > 1) {
        ++rounds;
        const Candidate chosen = best();
        const size_t a = chosen.low, b = chosen.high;
        unite(a, b, join++);
        if (active_.size() == 1) break;
        seek(a);
        for (const size_t c : active_) {
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
      for (const size_t i : active_) {
        std::sort(neighbors_[i].begin(), neighbors_[i].end());
        neighbors_[i].erase(std::unique(neighbors_[i].begin(), neighbors_[i].end()), neighbors_[i].end());
        look_around(i);
      }
      for (;;) {
        checkpoint(active_.size());
        const Candidate chosen = best();
        if (!(chosen < Candidate{})) break;
        merge(chosen.low, chosen.high, join++);
      }
    }
  }

 private:
  // A possible merge, in the order of preference: purity lost, average distance, slots.
  struct Candidate {
    int64_t loss = std::numeric_limits<int64_t>::max();
    double average = std::numeric_limits<double>::infinity();
    size_t low = 0, high = 0;
    bool operator<(const Candidate& o) const {
      return std::tie(loss, average, low, high) < std::tie(o.loss, o.average, o.low, o.high);
    }
  };

  double average(size_t i, size_t j) const { return static_cast<double>(sums_[at_(i, j)]) / (size_[i] * size_[j]); }

  Candidate candidate(size_t i, size_t j) const {
    int64_t together = 0;
    for (size_t c = 0; c < n_classes_; ++c)
      together = std::max(together, counts_[i * n_classes_ + c] + counts_[j * n_classes_ + c]);
    return {majority_[i] + majority_[j] - together, average(i, j), std::min(i, j), std::max(i, j)};
  }

  // The best candidate of all clusters, the first of equals; Candidate{} if there is none.
  Candidate best() const {
    Candidate chosen;
    for (const size_t i : active_) chosen = std::min(chosen, best_[i]);
    return chosen;
  }

  void look_around(size_t i) {
    checkpoint(neighbors_[i].size() * n_classes_);
    best_[i] = Candidate{};
    for (const size_t j : neighbors_[i]) best_[i] = std::min(best_[i], candidate(i, j));
  }

  // Finds the cluster nearest to `i` on average, the first of equals, and makes the pair its candidate.
  void seek(size_t i) {
    checkpoint(active_.size());
    double least = std::numeric_limits<double>::infinity();
    for (const size_t j : active_) {
      if (j == i) continue;
      const double v = average(i, j);
      if (v < least) least = v, nearest_[i] = j;
    }
    best_[i] = candidate(i, nearest_[i]);
  }

  // The graph that links every cluster with the cluster nearest to it on average, the first of equals.
  void link_nearest() {
    const size_t m = active_.size();
    std::vector<double> least(m, std::numeric_limits<double>::infinity());
    std::vector<size_t> which(m, 0);
    for (size_t a = 0; a < m; ++a) {
      checkpoint(m);
      for (size_t b = a + 1; b < m; ++b) {
        const double v = average(active_[a], active_[b]);
        if (v < least[a]) least[a] = v, which[a] = b;
        if (v < least[b]) least[b] = v, which[b] = a;
      }
    }
    for (size_t a = 0; a < m; ++a) {
      neighbors_[active_[a]].push_back(active_[which[a]]);
      neighbors_[active_[which[a]]].push_back(active_[a]);
    }
  }

  // Merges cluster `b` into cluster `a` and frees its slot; a < b.
  void unite(size_t a, size_t b, size_t join) {
    joins.left[join] = node_[a];
    joins.right[join] = node_[b];
    joins.heights[join] = average(a, b);
    node_[a] = static_cast<int64_t>(at_.n() + join);
    active_.erase(std::lower_bound(active_.begin(), active_.end(), b));
    for (const size_t c : active_)
      if (c != a) sums_[at_(a, c)] += sums_[at_(b, c)];
    size_[a] += size_[b];
    majority_[a] = 0;
    for (size_t c = 0; c < n_classes_; ++c) {
      counts_[a * n_classes_ + c] += counts_[b * n_classes_ + c];
      majority_[a] = std::max(majority_[a], counts_[a * n_classes_ + c]);
    }
  }

  // As unite, and the union inherits the edges of both.
  void merge(size_t a, size_t b, size_t join) {
    unite(a, b, join);
    // The neighbors of the union are those of both clusters, except for these clusters.
    std::vector<size_t> both;
    std::set_union(neighbors_[a].begin(), neighbors_[a].end(), neighbors_[b].begin(), neighbors_[b].end(),
                   std::back_inserter(both));
    std::erase_if(both, [&](size_t c) { return c == a || c == b; });
    for (const size_t c : neighbors_[b]) {
      if (c == a) continue;
      std::vector<size_t>& list = neighbors_[c];
      list.erase(std::lower_bound(list.begin(), list.end(), b));
      const auto place = std::lower_bound(list.begin(), list.end(), a);
      if (place == list.end() || *place != a) list.insert(place, a);
    }
    neighbors_[a] = std::move(both);
    neighbors_[b].clear();
    look_around(a);
    for (const size_t c : neighbors_[a]) {
      const Candidate& old = best_[c];
      const size_t partner = old.low == c ? old.high : old.low;
      if (partner == a || partner == b)
        look_around(c);
      else
        best_[c] = std::min(best_[c], candidate(c, a));
    }
  }

  T* sums_;
  Pairs at_;
  size_t n_classes_;
  std::vector<int64_t> counts_, majority_;
  std::vector<double> size_;
  std::vector<int64_t> node_;
  std::vector<size_t> active_;  // slots in use, ascending
  std::vector<std::vector<size_t>> neighbors_;
  std::vector<Candidate> best_;
  std::vector<size_t> nearest_;
  bool given_ = false, renewing_ = false;

 public:
  Joins joins;
  int64_t rounds = 0;  // number of graphs: one more each time the candidates ran out
};

// Edges of the Gabriel graph: i and j are neighbors unless some k lies in the ball with diameter i-j, that is d(i,k)^2
// + d(j,k)^2 < d(i,j)^2. Cubic if few pairs are rejected early.
template <class T>
std::vector<int32_t> gabriel_edges(const T* d, size_t n) {
  const Pairs at(n);
  std::vector<int32_t> edges;
  for (size_t i = 0; i < n; ++i) {
    size_t blocker = 0;  // of the last pair, often of the next one too
    for (size_t j = i + 1; j < n; ++j) {
      checkpoint(1);
      const double dij = static_cast<double>(d[at(i, j)]), square = dij * dij;
      const auto blocks = [&](size_t k) {
        if (k == i || k == j) return false;
        const double a = static_cast<double>(d[at(i, k)]), b = static_cast<double>(d[at(j, k)]);
        return a * a + b * b < square;
      };
      bool free = !blocks(blocker);
      for (size_t k = 0; free && k < n; ++k)
        if (blocks(k)) {
          free = false;
          blocker = k;
        }
      if (free) checkpoint(n);
      if (free) {
        edges.push_back(static_cast<int32_t>(i));
        edges.push_back(static_cast<int32_t>(j));
      }
    }
  }
  return edges;
}

}  // namespace oblique
