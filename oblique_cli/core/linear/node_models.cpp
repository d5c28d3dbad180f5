#include "linear/node_models.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "common/interrupt.hpp"
#include "linear/linear_solver.hpp"
#include "linear/logit_boost.hpp"

namespace oblique {
namespace {

constexpr double kLeastShare = 1e-300;  // whose logarithm is a number

// Some rows of RoutedRows by columns, with the scores of a model as offset.
struct ModelRows {
  std::vector<double> columns, weight, scores;
  std::vector<std::int32_t> y;
  std::size_t n = 0, p = 0, n_classes = 0;

  void take(const RoutedRows& rows, const std::uint32_t* which, std::size_t number, const Scores& model) {
    n = number, p = rows.p, n_classes = rows.n_classes;
    columns.resize(n * p);
    gather_columns(rows.x, p, which, n, columns.data());
    weight.resize(n);
    y.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      weight[i] = rows.weight[which[i]];
      y[i] = rows.y[which[i]];
    }
    scores.assign(n * n_classes, 0.0);
    add_scores(model, columns.data(), n, p, n_classes, scores.data());
  }

  ClassRows rows() const { return {columns.data(), n, p, n_classes, y.data(), weight.data(), scores.data()}; }

  std::size_t answer(std::size_t i) const {
    std::size_t best = 0;
    for (std::size_t k = 1; k < n_classes; ++k)
      if (scores[k * n + i] > scores[best * n + i]) best = k;
    return best;
  }
};

// Calls visit(node, rows, number) with the rows that pass through every node, in ascending order; a parent before its
// children. One array holds the rows and is divided on the way down.
template <class Visit>
void at_nodes(const RoutedRows& rows, Visit visit) {
  std::vector<std::vector<std::uint32_t>> children(rows.n_nodes);
  for (std::uint32_t node = 1; node < rows.n_nodes; ++node)
    children[static_cast<std::size_t>(rows.parent[node])].push_back(node);
  // Row numbers in the order of a tree walk: the rows of a branch are contiguous.
  std::vector<std::uint32_t> place(rows.n_nodes), size(rows.n_nodes, 1), walk{0};
  for (std::size_t node = rows.n_nodes; node-- > 1;) size[static_cast<std::size_t>(rows.parent[node])] += size[node];
  for (std::uint32_t next = 0; !walk.empty(); ++next) {
    const std::uint32_t node = walk.back();
    walk.pop_back();
    place[node] = next;
    walk.insert(walk.end(), children[node].rbegin(), children[node].rend());
  }
  std::vector<std::uint32_t> order(rows.n);
  std::iota(order.begin(), order.end(), 0u);
  struct Part {
    std::uint32_t node;
    std::size_t begin, end;
  };
  std::vector<Part> parts{{0, 0, rows.n}};
  while (!parts.empty()) {
    const Part part = parts.back();
    parts.pop_back();
    visit(part.node, order.data() + part.begin, part.end - part.begin);
    std::size_t begin = part.begin;
    for (const std::uint32_t child : children[part.node]) {
      const auto below = [&](std::uint32_t row) {
        const std::uint32_t at = place[static_cast<std::size_t>(rows.leaf[row])];
        return at >= place[child] && at < place[child] + size[child];
      };
      const auto first = order.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = order.begin() + static_cast<std::ptrdiff_t>(part.end);
      const std::size_t end = begin + static_cast<std::size_t>(std::stable_partition(first, last, below) - first);
      parts.push_back({child, begin, end});
      begin = end;
      checkpoint(8 * (part.end - part.begin));
    }
  }
}

// Intercepts that give every row the class shares, with one added row per class.
Scores shares_of(const RoutedRows& rows) {
  const std::size_t stride = rows.p + 1;
  std::vector<double> count(rows.n_classes, 1.0);
  double total = static_cast<double>(rows.n_classes);
  for (std::size_t i = 0; i < rows.n; ++i) {
    count[static_cast<std::size_t>(rows.y[i])] += rows.weight[i];
    total += rows.weight[i];
  }
  Scores model(rows.n_classes * stride, 0.0);
  for (std::size_t k = 0; k < rows.n_classes; ++k) model[k * stride + rows.p] = std::log(count[k] / total);
  return model;
}

}  // namespace

std::vector<double> node_models(const RoutedRows& rows, const NodeModelOptions& options, const double* start) {
  const std::size_t size = rows.n_classes * (rows.p + 1);
  std::vector<double> out(rows.n_nodes * size);
  ModelRows gathered;
  SoftmaxSolver solver;
  LogitBoost boost;
  at_nodes(rows, [&](std::size_t node, const std::uint32_t* which, std::size_t n) {
    Scores model;
    if (node == 0) {
      model = options.boosted ? Scores(size, 0.0) : shares_of(rows);
    } else {
      const double* above = out.data() + static_cast<std::size_t>(rows.parent[node]) * size;
      model.assign(above, above + size);
    }
    const bool few = n == 0 || (options.boosted && n < options.least_rows);
    if (!few) {
      gathered.take(rows, which, n, model);
      if (options.boosted) {
        const ClassRows class_rows = gathered.rows();
        for (int step = 0; step < options.steps; ++step)
          if (!boost.step(class_rows, gathered.scores, model)) break;
      } else {
        Scores begin;
        if (start) {
          begin.assign(start + node * size, start + (node + 1) * size);
          for (std::size_t j = 0; j < size; ++j) begin[j] -= model[j];
        }
        const Scores more = solver.solve(gathered.rows(), options.l2, options.tolerance, begin);
        for (std::size_t j = 0; j < size; ++j) model[j] += more[j];
      }
    }
    std::copy(model.begin(), model.end(), out.begin() + static_cast<std::ptrdiff_t>(node * size));
  });
  return out;
}

NodeLosses node_losses(const RoutedRows& rows, const double* models) {
  const std::size_t size = rows.n_classes * (rows.p + 1);
  NodeLosses out{std::vector<double>(rows.n_nodes, 0.0), std::vector<double>(rows.n_nodes, 0.0)};
  ModelRows gathered;
  at_nodes(rows, [&](std::size_t node, const std::uint32_t* which, std::size_t n) {
    const double* model = models + node * size;
    gathered.take(rows, which, n, Scores(model, model + size));
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t y = static_cast<std::size_t>(gathered.y[i]), answer = gathered.answer(i);
      if (answer != y) out.wrong[node] += gathered.weight[i];
      const double top = gathered.scores[answer * n + i];
      double sum = 0.0;
      for (std::size_t k = 0; k < rows.n_classes; ++k) sum += std::exp(gathered.scores[k * n + i] - top);
      const double share = std::exp(gathered.scores[y * n + i] - top) / sum;
      out.log_loss[node] -= gathered.weight[i] * std::log(std::max(share, kLeastShare));
    }
    checkpoint(8 * n * rows.n_classes);
  });
  return out;
}

std::vector<double> boosting_errors(const RoutedRows& training, const RoutedRows& test, int most, int patience) {
  const auto everything = [](std::size_t n) {
    std::vector<std::uint32_t> all(n);
    std::iota(all.begin(), all.end(), 0u);
    return all;
  };
  Scores model(training.n_classes * (training.p + 1), 0.0);
  ModelRows grown, left_out;
  const std::vector<std::uint32_t> all = everything(training.n);
  grown.take(training, all.data(), all.size(), model);
  const std::vector<std::uint32_t> tested = everything(test.n);
  std::vector<double> errors;
  LogitBoost boost;
  std::size_t best = 0;
  for (int step = 0;; ++step) {
    left_out.take(test, tested.data(), tested.size(), model);
    double wrong = 0.0;
    for (std::size_t i = 0; i < test.n; ++i)
      if (left_out.answer(i) != static_cast<std::size_t>(test.y[i])) wrong += test.weight[i];
    errors.push_back(wrong);
    if (wrong < errors[best]) best = errors.size() - 1;
    if (step >= most || errors.size() - 1 - best > static_cast<std::size_t>(patience)) break;
    if (!boost.step(grown.rows(), grown.scores, model)) break;
  }
  return errors;
}

}  // namespace oblique
