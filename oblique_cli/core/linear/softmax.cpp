#include "linear/softmax.hpp"

#include "common/interrupt.hpp"
#include "linear/row_blocks.hpp"

namespace oblique {
namespace {

constexpr size_t kRowsAtOnce = 256;       // scores and columns of this many rows fit in the cache
constexpr size_t kGramRows = 8;           // rows of the Gram matrix that are computed at once
constexpr size_t kWidest = 600;           // columns up to which the whole Gram matrix is the preconditioner
constexpr size_t kMemory = 8;             // steps that L-BFGS remembers
constexpr double kLeastUncertain = 0.02;  // of a row in the preconditioner
constexpr int kMostHalvings = 40;
constexpr double kArmijo = 1e-4;

double product_of(const std::vector<double>& a, const std::vector<double>& b) {
  return dot_columns(a.data(), b.data(), a.size());
}

// Sums of such large numbers overflow, and a model would ignore the rows.
void require_finite(double value) {
  if (!std::isfinite(value))
    throw std::overflow_error("features or weights are too large for a logistic model: their sums are not finite");
}

}  // namespace

void add_scores(const Scores& w, const double* columns, size_t n, size_t p, size_t n_classes, double* out) {
  for (size_t begin = 0; begin < n; begin += kRowsAtOnce) {
    const size_t rows = std::min(kRowsAtOnce, n - begin);
    for (size_t k = 0; k < n_classes; ++k) {
      double* scores = out + k * n + begin;
      for (size_t i = 0; i < rows; ++i) scores[i] += w[k * (p + 1) + p];
    }
    add_combined(w.data(), p + 1, n_classes, {columns + begin, n, p}, out + begin, n, rows);
    checkpoint(rows * n_classes * (p + 1));
  }
}

// The objective of two classes at w, the difference of their scores, and its gradient.
double SoftmaxSolver::evaluate_two(const ClassRows& rows, double l2, const Scores& w, Scores& gradient, bool weighs) {
  const size_t p = rows.p;
  gradient.assign(p + 1, 0.0);
  block_.resize(7 * kRowsAtOnce);
  double* parts[7];
  for (size_t k = 0; k < 7; ++k) parts[k] = block_.data() + k * kRowsAtOnce;
  const auto [score, side, margin, power, losses, first, second] = parts;
  double loss = 0.0;
  for (size_t begin = 0; begin < rows.n; begin += kRowsAtOnce) {
    const size_t n = std::min(kRowsAtOnce, rows.n - begin);
    const StridedColumns x{rows.columns + begin, rows.n, p}, slopes{first, kRowsAtOnce, 1};
    const double *weight = rows.weight + begin, *offset = rows.offset + begin;
    for (size_t i = 0; i < n; ++i) {
      side[i] = rows.y[begin + i] == 0 ? 1.0 : -1.0;
      score[i] = (offset[i] - offset[rows.n + i]) + w[p];
    }
    add_combined(w.data(), p + 1, 1, x, score, kRowsAtOnce, n);
    for (size_t i = 0; i < n; ++i) margin[i] = side[i] * score[i];
    logistic_losses(margin, power, losses, n);
    loss += dot_columns(weight, losses, n);
    logistic_slopes(margin, power, side, weight, first, second, n);
    if (weighs)
      for (size_t i = 0; i < n; ++i)
        uncertainty_[begin + i] = std::clamp(2.0 * second[i], kLeastUncertain * weight[i], 0.5 * weight[i]);
    add_products(slopes, x, gradient.data(), p + 1, n);
    add_column_sums(slopes, gradient.data() + p, p + 1, n);
    checkpoint(2 * n * (p + 8));
  }
  for (size_t j = 0; j <= p; ++j) gradient[j] += 0.5 * l2 * w[j];
  return loss + 0.25 * l2 * product_of(w, w);
}

// The objective at w, and its gradient. weighs : whether to compute the uncertainty of the rows
double SoftmaxSolver::evaluate(const ClassRows& rows, double l2, const Scores& w, Scores& gradient, bool weighs) {
  const size_t C = rows.n_classes, p = rows.p;
  if (weighs) uncertainty_.resize(rows.n);
  if (C == 2) return evaluate_two(rows, l2, w, gradient, weighs);
  const double share = C > 1 ? 0.5 * static_cast<double>(C) / static_cast<double>(C - 1) : 0.5;
  gradient.assign(w.size(), 0.0);
  block_.resize((C + 2) * kRowsAtOnce);
  double* top = block_.data() + C * kRowsAtOnce;
  double* sum = top + kRowsAtOnce;
  double loss = 0.0;
  for (size_t begin = 0; begin < rows.n; begin += kRowsAtOnce) {
    const size_t n = std::min(kRowsAtOnce, rows.n - begin);
    const StridedColumns x{rows.columns + begin, rows.n, p};
    const double* weight = rows.weight + begin;
    const int32_t* y = rows.y + begin;
    for (size_t k = 0; k < C; ++k) {
      double* scores = block_.data() + k * kRowsAtOnce;
      const double* offset = rows.offset + k * rows.n + begin;
      const double intercept = w[k * (p + 1) + p];
      for (size_t i = 0; i < n; ++i) scores[i] = offset[i] + intercept;
    }
    add_combined(w.data(), p + 1, C, x, block_.data(), kRowsAtOnce, n);
    for (size_t k = 0; k < C; ++k) {
      const double* scores = block_.data() + k * kRowsAtOnce;
      if (k == 0)
        std::copy_n(scores, n, top);
      else
        raise_to(scores, top, n);
    }
    for (size_t i = 0; i < n; ++i) loss += weight[i] * (top[i] - block_[static_cast<size_t>(y[i]) * kRowsAtOnce + i]);
    std::fill_n(sum, n, 0.0);
    for (size_t k = 0; k < C; ++k) add_powers(block_.data() + k * kRowsAtOnce, top, sum, n);
    for (size_t i = 0; i < n; ++i) {
      loss += weight[i] * std::log(sum[i]);
      sum[i] = weight[i] / sum[i];
    }
    for (size_t k = 0; k < C; ++k) scale_by(block_.data() + k * kRowsAtOnce, sum, n);
    if (weighs) {
      std::fill_n(top, n, 0.0);  // sums of squares
      for (size_t k = 0; k < C; ++k)
        for (size_t i = 0; i < n; ++i) top[i] += block_[k * kRowsAtOnce + i] * block_[k * kRowsAtOnce + i];
      for (size_t i = 0; i < n; ++i)
        uncertainty_[begin + i] =
            std::clamp(share * (weight[i] - top[i] / weight[i]), kLeastUncertain * weight[i], 0.5 * weight[i]);
    }
    for (size_t i = 0; i < n; ++i) block_[static_cast<size_t>(y[i]) * kRowsAtOnce + i] -= weight[i];
    const StridedColumns slopes{block_.data(), kRowsAtOnce, C};
    add_products(slopes, x, gradient.data(), p + 1, n);
    add_column_sums(slopes, gradient.data() + p, p + 1, n);
    checkpoint(2 * n * C * (p + 4));
  }
  for (size_t j = 0; j < w.size(); ++j) gradient[j] += l2 * w[j];
  return loss + 0.5 * l2 * product_of(w, w);
}

// The Cholesky factor of the weighted Gram matrix plus the ridge, lower triangle by rows, intercept last; with too many
// columns only its diagonal.
void SoftmaxSolver::factor(const ClassRows& rows, double l2) {
  const size_t p = rows.p, size = p + 1;
  factor_.clear();
  if (p > kWidest) {
    diagonal_.assign(size, l2);
    for (size_t j = 0; j <= p; ++j) {
      double sum = 0.0;
      for (size_t i = 0; i < rows.n; ++i) {
        const double x = j < p ? rows.columns[j * rows.n + i] : 1.0;
        sum += uncertainty_[i] * x * x;
      }
      diagonal_[j] += sum;
    }
    checkpoint(rows.n * size);
    return;
  }
  factor_.assign(size * size, 0.0);  // some rows of the product at once; values above the diagonal are not read
  scaled_.resize(kGramRows * kRowsAtOnce);
  for (size_t begin = 0; begin < rows.n; begin += kRowsAtOnce) {
    const size_t n = std::min(kRowsAtOnce, rows.n - begin);
    const double* v = uncertainty_.data() + begin;
    for (size_t first = 0; first <= p; first += kGramRows) {
      const size_t count = std::min(kGramRows, size - first);
      for (size_t k = 0; k < count; ++k) {
        double* scaled = scaled_.data() + k * kRowsAtOnce;
        const size_t j = first + k;
        for (size_t i = 0; i < n; ++i) scaled[i] = v[i] * (j < p ? rows.columns[j * rows.n + begin + i] : 1.0);
        if (j == p)
          for (size_t i = 0; i < n; ++i) factor_[p * size + p] += scaled[i];
      }
      add_products({scaled_.data(), kRowsAtOnce, count}, {rows.columns + begin, rows.n, std::min(first + count, p)},
                   factor_.data() + first * size, size, n);
    }
    checkpoint(n * size * size / 2);
  }
  scaled_.resize(kGramRows * std::max(kRowsAtOnce, size));
  for (size_t k = 0; k < size; ++k) {
    double* row = factor_.data() + k * size;
    const double pivot = row[k] + l2 - dot_columns(row, row, k);
    row[k] = std::sqrt(std::max(pivot, 0.5 * l2));  // a pivot is at least the ridge, except for rounding
    const size_t below = size - k - 1;
    std::fill_n(scaled_.data(), below, 0.0);
    add_products({row, size, 1}, {row + size, size, below}, scaled_.data(), below, k);
    for (size_t j = 0; j < below; ++j) {
      double& value = row[(j + 1) * size + k];
      value = (value - scaled_[j]) / row[k];
    }
    checkpoint(k * below / 2);
  }
}

// size : of a right side
void SoftmaxSolver::precondition(size_t size, std::vector<double>& right_sides) {
  const size_t count = right_sides.size() / size;
  if (!factor_.empty()) return solve_factored(factor_.data(), size, right_sides.data(), count, scaled_.data());
  for (size_t k = 0; k < count; ++k)
    for (size_t j = 0; j < size; ++j) right_sides[k * size + j] /= diagonal_[j];
}

Scores SoftmaxSolver::solve(const ClassRows& rows, double l2, double tolerance, const Scores& start, int max_steps) {
  const size_t each = rows.p + 1;
  const bool two = rows.n_classes == 2;
  const size_t size = two ? each : rows.n_classes * each;
  Scores w(size, 0.0), gradient, trial, slope;
  if (!start.empty()) w.assign(start.begin(), start.begin() + size);
  if (!start.empty() && two)
    for (size_t j = 0; j < each; ++j) w[j] -= start[each + j];
  const auto scores = [&] {  // of every class
    if (!two) return w;
    Scores out(2 * each);
    for (size_t j = 0; j < each; ++j) {
      out[j] = 0.5 * w[j];
      out[each + j] = -out[j];
    }
    return out;
  };
  converged_ = true;
  objective_ = evaluate(rows, l2, w, gradient, true);
  double total = 0.0;
  for (size_t i = 0; i < rows.n; ++i) total += rows.weight[i];
  const double enough = tolerance * total;
  require_finite(objective_);
  if (!(objective_ > 0.0)) return scores();
  factor(rows, l2);
  std::vector<std::vector<double>> moves, turns;  // changes of w and of the gradient, in order of time
  std::vector<double> direction, shares;
  for (int step = 0; step < max_steps; ++step) {
    direction = gradient;
    shares.assign(moves.size(), 0.0);
    for (size_t m = moves.size(); m-- > 0;) {
      shares[m] = product_of(moves[m], direction) / product_of(moves[m], turns[m]);
      add_scaled(-shares[m], turns[m].data(), direction.data(), size);
    }
    // The last turn is solved for as well: its length scales the preconditioner.
    if (!turns.empty()) direction.insert(direction.end(), turns.back().begin(), turns.back().end());
    precondition(each, direction);
    double scale = two ? 2.0 : 1.0;  // second derivatives by the difference of two scores are half of those by a score
    if (!turns.empty()) {
      scale = product_of(moves.back(), turns.back()) / dot_columns(turns.back().data(), direction.data() + size, size);
      direction.resize(size);
    }
    for (double& value : direction) value *= scale;
    for (size_t m = 0; m < moves.size(); ++m) {
      const double back = product_of(turns[m], direction) / product_of(moves[m], turns[m]);
      add_scaled(shares[m] - back, moves[m].data(), direction.data(), size);
    }
    const double promise = product_of(gradient, direction);
    require_finite(promise);
    if (!(promise > enough)) return scores();
    double length = 1.0, value = 0.0;
    int halvings = 0;
    for (; halvings < kMostHalvings; ++halvings, length *= 0.5) {
      trial = w;
      add_scaled(-length, direction.data(), trial.data(), size);
      value = evaluate(rows, l2, trial, slope, false);
      if (value <= objective_ - kArmijo * length * promise) break;
    }
    if (halvings == kMostHalvings) return scores();  // the remaining decrease is below rounding
    std::vector<double> move(size), turn(size);
    for (size_t j = 0; j < size; ++j) {
      move[j] = trial[j] - w[j];
      turn[j] = slope[j] - gradient[j];
    }
    if (product_of(move, turn) > 0.0) {
      if (moves.size() == kMemory) {
        moves.erase(moves.begin());
        turns.erase(turns.begin());
      }
      moves.push_back(std::move(move));
      turns.push_back(std::move(turn));
    }
    w.swap(trial);
    gradient.swap(slope);
    objective_ = value;
  }
  converged_ = false;
  return scores();
}

}  // namespace oblique
