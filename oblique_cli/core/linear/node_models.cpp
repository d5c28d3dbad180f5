#include "linear/node_models.hpp"

#include "common/interrupt.hpp"
#include "linear/linear_solver.hpp"

namespace oblique {

namespace {

constexpr double kLargestResponse = 3.0;  // Friedman, Hastie & Tibshirani (2000), section 4: 2 to 4
constexpr double kLeastWeight = 1e-12;    // relative to the row's own weight
constexpr double kNoSpread = 1e-12;       // relative to the second moment: a feature with less variance is constant
constexpr double kLeastShare = 1e-300;    // whose logarithm is a number

class LogitBoost {
 public:
  // Adds one step to scores (C, n), which include the offset, and to the linear functions `w`, which do not. If no
  // feature varies, the step is the mean of the response. False if there is nothing to add.
  bool step(const ClassRows& rows, std::vector<double>& scores, Scores& w) {
    const size_t n = rows.n, p = rows.p, C = rows.n_classes;
    if (C < 2) return false;
    probability_.resize(C * n);
    response_.resize(n);
    weight_.resize(n);
    weighted_.resize(n);
    scaled_.resize(n);
    change_.assign(C * (p + 1), 0.0);
    for (size_t i = 0; i < n; ++i) {
      double top = scores[i], sum = 0.0;
      for (size_t k = 1; k < C; ++k) top = std::max(top, scores[k * n + i]);
      for (size_t k = 0; k < C; ++k) sum += probability_[k * n + i] = std::exp(scores[k * n + i] - top);
      for (size_t k = 0; k < C; ++k) probability_[k * n + i] /= sum;
    }
    bool any = false;
    for (size_t k = 0; k < C; ++k) {
      double total = 0.0, of_response = 0.0;
      for (size_t i = 0; i < n; ++i) {
        const double q = probability_[k * n + i];
        const bool here = static_cast<size_t>(rows.y[i]) == k;
        // (y - q) / (q (1 - q)), which is 1 / q or -1 / (1 - q).
        const double z = here ? std::min(1.0 / q, kLargestResponse) : -std::min(1.0 / (1.0 - q), kLargestResponse);
        response_[i] = z;
        weight_[i] = rows.weight[i] * std::max(((here ? 1.0 : 0.0) - q) / z, kLeastWeight);
        total += weight_[i];
        of_response += weight_[i] * z;
      }
      // Centered first: where the scores are certain of a class, responses differ by little.
      const double mean_response = of_response / total;
      for (size_t i = 0; i < n; ++i) weighted_[i] = weight_[i] * (response_[i] - mean_response);
      double best = -1.0, slope = 0.0, mean = 0.0;
      size_t feature = p;
      for (size_t j = 0; j < p; ++j) {
        const double* x = rows.columns + j * n;
        const double x_mean = dot_columns(weight_.data(), x, n) / total;
        const double cross = dot_columns(weighted_.data(), x, n);
        for (size_t i = 0; i < n; ++i) scaled_[i] = weight_[i] * x[i];
        const double square = dot_columns(scaled_.data(), x, n);
        const double spread = square - total * x_mean * x_mean;
        if (!(spread > kNoSpread * square)) continue;
        const double explained = cross * cross / spread;
        if (!(explained > best)) continue;
        best = explained;
        slope = cross / spread;
        mean = x_mean;
        feature = j;
      }
      any = any || feature < p || std::abs(mean_response) > kNoSpread;
      if (feature < p) change_[k * (p + 1) + feature] = slope;
      change_[k * (p + 1) + p] = mean_response - slope * mean;
    }
    checkpoint(n * C * (3 * p + 8));
    if (!any) return false;
    // Centered over the classes, since their scores sum to 0.
    const double share = static_cast<double>(C - 1) / static_cast<double>(C);
    for (size_t j = 0; j <= p; ++j) {
      double sum = 0.0;
      for (size_t k = 0; k < C; ++k) sum += change_[k * (p + 1) + j];
      for (size_t k = 0; k < C; ++k) {
        double& value = change_[k * (p + 1) + j];
        value = share * (value - sum / static_cast<double>(C));
      }
    }
    add_scores(change_, rows.columns, n, p, C, scores.data());
    for (size_t j = 0; j < w.size(); ++j) w[j] += change_[j];
    return true;
  }

 private:
  std::vector<double> response_, weight_, weighted_, scaled_, change_, probability_;
};

// Some rows of RoutedRows by columns, with the scores of a model as offset.
struct ModelRows {
  std::vector<double> columns, weight, scores;
  std::vector<int32_t> y;
  size_t n = 0, p = 0, n_classes = 0;

  void take(const RoutedRows& rows, const uint32_t* which, size_t number, const Scores& model) {
    n = number, p = rows.p, n_classes = rows.n_classes;
    columns.resize(n * p);
    gather_columns(rows.x, p, which, n, columns.data());
    weight.resize(n);
    y.resize(n);
    for (size_t i = 0; i < n; ++i) {
      weight[i] = rows.weight[which[i]];
      y[i] = rows.y[which[i]];
    }
    scores.assign(n * n_classes, 0.0);
    add_scores(model, columns.data(), n, p, n_classes, scores.data());
  }

  // Whether the present scores classify every row.
  bool is_settled() const {
    for (size_t i = 0; i < n; ++i)
      if (answer(i) != static_cast<size_t>(y[i])) return false;
    return true;
  }

  ClassRows rows() const { return {columns.data(), n, p, n_classes, y.data(), weight.data(), scores.data()}; }

  size_t answer(size_t i) const {
    size_t best = 0;
    for (size_t k = 1; k < n_classes; ++k)
      if (scores[k * n + i] > scores[best * n + i]) best = k;
    return best;
  }
};

// Calls visit(node, rows, number) with the rows that pass through every node, in ascending order; a parent before its
// children. One array holds the rows and is divided on the way down.
template <class Visit>
void at_nodes(const RoutedRows& rows, Visit visit) {
  std::vector<std::vector<uint32_t>> children(rows.n_nodes);
  for (uint32_t node = 1; node < rows.n_nodes; ++node) children[rows.parent[node]].push_back(node);
  // Row numbers in the order of a tree walk: the rows of a branch are contiguous.
  std::vector<uint32_t> place(rows.n_nodes), size(rows.n_nodes, 1), walk{0};
  for (size_t node = rows.n_nodes; node-- > 1;) size[rows.parent[node]] += size[node];
  for (uint32_t next = 0; !walk.empty(); ++next) {
    const uint32_t node = walk.back();
    walk.pop_back();
    place[node] = next;
    walk.insert(walk.end(), children[node].rbegin(), children[node].rend());
  }
  std::vector<uint32_t> order(rows.n);
  std::iota(order.begin(), order.end(), 0u);
  struct Part {
    uint32_t node;
    size_t begin, end;
  };
  std::vector<Part> parts{{0, 0, rows.n}};
  while (!parts.empty()) {
    const Part part = parts.back();
    parts.pop_back();
    visit(part.node, order.data() + part.begin, part.end - part.begin);
    size_t begin = part.begin;
    for (const uint32_t child : children[part.node]) {
      const auto below = [&](uint32_t row) {
        const uint32_t at = place[rows.leaf[row]];
        return at >= place[child] && at < place[child] + size[child];
      };
      const auto first = order.begin() + begin;
      const auto last = order.begin() + part.end;
      const size_t end = begin + static_cast<size_t>(std::stable_partition(first, last, below) - first);
      parts.push_back({child, begin, end});
      begin = end;
      checkpoint(8 * (part.end - part.begin));
    }
  }
}

// Intercepts that give every row the class shares, with one added row per class.
Scores shares_of(const RoutedRows& rows) {
  const size_t stride = rows.p + 1;
  std::vector<double> count(rows.n_classes, 1.0);
  double total = static_cast<double>(rows.n_classes);
  for (size_t i = 0; i < rows.n; ++i) {
    count[rows.y[i]] += rows.weight[i];
    total += rows.weight[i];
  }
  Scores model(rows.n_classes * stride, 0.0);
  for (size_t k = 0; k < rows.n_classes; ++k) model[k * stride + rows.p] = std::log(count[k] / total);
  return model;
}

}  // namespace

std::vector<double> node_models(const RoutedRows& rows, const NodeModelOptions& options, const double* start) {
  const size_t size = rows.n_classes * (rows.p + 1);
  std::vector<double> out(rows.n_nodes * size);
  ModelRows gathered;
  SoftmaxSolver solver;
  LogitBoost boost;
  std::vector<unsigned char> is_settled(rows.n_nodes, 0);  // by a node above or its own model
  at_nodes(rows, [&](size_t node, const uint32_t* which, size_t n) {
    Scores model;
    if (node == 0) {
      model = options.boosted ? Scores(size, 0.0) : shares_of(rows);
    } else {
      const double* above = out.data() + static_cast<size_t>(rows.parent[node]) * size;
      model.assign(above, above + size);
    }
    is_settled[node] = node > 0 && is_settled[rows.parent[node]];
    const bool few = n == 0 || (options.boosted && n < options.least_rows);
    if (!few && !is_settled[node]) {
      gathered.take(rows, which, n, model);
      if (options.boosted) {
        const ClassRows class_rows = gathered.rows();
        for (int step = 0; step < options.steps; ++step)
          if (!boost.step(class_rows, gathered.scores, model)) break;
      } else {
        Scores begin;
        if (start) {
          begin.assign(start + node * size, start + (node + 1) * size);
          for (size_t j = 0; j < size; ++j) begin[j] -= model[j];
        }
        const Scores more = solver.solve(gathered.rows(), options.l2, options.tolerance, begin);
        for (size_t j = 0; j < size; ++j) model[j] += more[j];
        add_scores(more, gathered.columns.data(), n, rows.p, rows.n_classes, gathered.scores.data());
        is_settled[node] = gathered.is_settled();
      }
    }
    std::copy(model.begin(), model.end(), out.begin() + node * size);
  });
  return out;
}

NodeLosses node_losses(const RoutedRows& rows, const double* models) {
  const size_t size = rows.n_classes * (rows.p + 1);
  NodeLosses out{std::vector<double>(rows.n_nodes, 0.0), std::vector<double>(rows.n_nodes, 0.0)};
  ModelRows gathered;
  at_nodes(rows, [&](size_t node, const uint32_t* which, size_t n) {
    const double* model = models + node * size;
    gathered.take(rows, which, n, Scores(model, model + size));
    for (size_t i = 0; i < n; ++i) {
      const size_t y = static_cast<size_t>(gathered.y[i]), answer = gathered.answer(i);
      if (answer != y) out.wrong[node] += gathered.weight[i];
      const double top = gathered.scores[answer * n + i];
      double sum = 0.0;
      for (size_t k = 0; k < rows.n_classes; ++k) sum += std::exp(gathered.scores[k * n + i] - top);
      const double share = std::exp(gathered.scores[y * n + i] - top) / sum;
      out.log_loss[node] -= gathered.weight[i] * std::log(std::max(share, kLeastShare));
    }
    checkpoint(8 * n * rows.n_classes);
  });
  return out;
}

std::vector<double> boosting_errors(const RoutedRows& training, const RoutedRows& test, int most, int patience) {
  Scores model(training.n_classes * (training.p + 1), 0.0);
  ModelRows grown, left_out;
  const std::vector<uint32_t> all = numbers_to(training.n), tested = numbers_to(test.n);
  grown.take(training, all.data(), all.size(), model);
  std::vector<double> errors;
  LogitBoost boost;
  size_t best = 0;
  for (int step = 0;; ++step) {
    left_out.take(test, tested.data(), tested.size(), model);
    double wrong = 0.0;
    for (size_t i = 0; i < test.n; ++i)
      if (left_out.answer(i) != static_cast<size_t>(test.y[i])) wrong += test.weight[i];
    errors.push_back(wrong);
    if (wrong < errors[best]) best = errors.size() - 1;
    if (step >= most || errors.size() - 1 - best > static_cast<size_t>(patience)) break;
    if (!boost.step(grown.rows(), grown.scores, model)) break;
  }
  return errors;
}

}  // namespace oblique
