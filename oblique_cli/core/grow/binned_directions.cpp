#include "grow/binned_directions.hpp"

#include "common/clones.hpp"

namespace oblique {

namespace {

// Values of the cuts behind n places, 0 where a side has no weight; returns the largest.
OBLIQUE_CLONES
double cut_values(const double* __restrict left, const double* __restrict left_squares,
                  const double* __restrict right_squares, double total, size_t n, double* __restrict value) {
  double largest = 0.0;
  for (size_t b = 0; b < n; ++b) {
    const double l = left[b], r = total - left[b];
    const double of_cut = left_squares[b] / l + right_squares[b] / r;
    value[b] = l > 0.0 && r > 0.0 ? of_cut : 0.0;
  }
  for (size_t b = 0; b < n; ++b) largest = std::max(largest, value[b]);
  return largest;
}

// Adds a class of weight `total` to the sums of the cuts behind n places.
OBLIQUE_CLONES
void add_squares(const double* __restrict left, double total, size_t n, double* __restrict sum,
                 double* __restrict left_squares, double* __restrict right_squares) {
  for (size_t b = 0; b < n; ++b) {
    const double l = left[b], r = total - left[b];
    sum[b] += l;
    left_squares[b] += l * l;
    right_squares[b] += r * r;
  }
}

}  // namespace

// Sums over the current node, and its value without a cut.
void BestBin::begin_node(const Bag& bag) {
  of_class_.clear();
  total_ = 0.0;
  double squares = 0.0;
  for (const ClassRun& run : *bag.runs) {
    of_class_.push_back(run.weight);
    total_ += run.weight;
    squares += run.weight * run.weight;
  }
  if (!data_.targets.empty()) {
    const size_t n_outputs = data_.n_outputs();
    pull_.resize(std::max(pull_.size(), n_outputs * bag.n));
    of_class_.clear();
    squares = 0.0;
    for (size_t k = 0; k < n_outputs; ++k) {
      const double* target = data_.output(k);
      double* pull = pull_.data() + k * bag.n;
      double sum = 0.0;
      for (size_t i = 0; i < bag.n; ++i) sum += pull[i] = bag.weight[i] * target[bag.row[i]];
      of_class_.push_back(sum);
      squares += sum * sum;
    }
  }
  uncut_ = squares / total_;
  best_ = {};
  best_.value = uncut_;
}

bool BestBin::find(DrawnNodes& node, DrawnSplit& split, bool&) {
  const Bag& bag = node.bag();
  begin_node(bag);
  FeatureDraw& drawn = node.drawn();
  for (size_t at = 0; at < drawn.size(); ++at) look(bag, static_cast<size_t>(drawn[at]));
  const double share = static_cast<double>(drawn.size()) / static_cast<double>(drawn.total());
  for (size_t plane = directions_.n_axes(); plane < directions_.size(); ++plane)
    if (node.stream().uniform() < share) look(bag, plane);
  while (!best_.is_found && drawn.size() < drawn.total()) {
    drawn.draw(node.stream());
    look(bag, static_cast<size_t>(drawn[drawn.size() - 1]));
  }
  if (best_.is_found) take(bag, node, split);
  return best_.is_found;
}

void BestBin::look(const Bag& bag, size_t direction) {
  if (directions_.n_bins(direction) < 2) return;
  checkpoint(4 * bag.n);
  const Bins bins = place_rows(bag, direction);
  if (bins.n < 2) return;
  for (std::vector<double>* sums : {&left_, &squares_[0], &squares_[1]}) sums->assign(bins.n, 0.0);
  value_.resize(bins.n);
  if (data_.targets.empty())
    add_classes(bag, bins.n);
  else
    add_targets(bag, bins.n);
  const double largest =
      cut_values(left_.data(), squares_[0].data(), squares_[1].data(), total_, bins.n, value_.data());
  if (!(largest > best_.value * kBeats)) return;
  // Every row has positive weight, so the sum on the left increases at every bin that holds rows.
  size_t last = bins.n - 1;
  while (last > 0 && left_[last] == left_[last - 1]) --last;
  const double least = min_leaf_ - 1e-12 * total_;
  for (size_t b = 0, next; b < last; b = next) {
    for (next = b + 1; left_[next] == left_[b];) ++next;
    if (!(value_[b] > best_.value * kBeats) || std::min(left_[b], total_ - left_[b]) < least) continue;
    best_ = {true, direction, bins.number(b, of_place_), bins.number(next, of_place_), value_[b]};
  }
}

void BestBin::add_classes(const Bag& bag, size_t n_bins) {
  const size_t n_classes = of_class_.size();
  weight_.assign(n_classes * n_bins, 0.0);
  size_t i = 0;
  for (size_t k = 0; k < n_classes; ++k) {
    double* weight = weight_.data() + k * n_bins;
    for (const size_t end = i + (*bag.runs)[k].n; i < end; ++i) weight[place_[i]] += bag.weight[i];
    for (size_t b = 1; b < n_bins; ++b) weight[b] += weight[b - 1];
    add_squares(weight, of_class_[k], n_bins, left_.data(), squares_[0].data(), squares_[1].data());
  }
}

void BestBin::add_targets(const Bag& bag, size_t n_bins) {
  const size_t n_outputs = of_class_.size();
  weight_.assign((n_outputs + 1) * n_bins, 0.0);  // sums of targets, and a buffer for unused outputs
  double* sum = weight_.data();
  for (size_t i = 0; i < bag.n; ++i) {
    left_[place_[i]] += bag.weight[i];
    sum[place_[i]] += pull_[i];
  }
  for (size_t b = 1; b < n_bins; ++b) left_[b] += left_[b - 1];
  double* unused = sum + n_outputs * n_bins;
  for (size_t k = 0; k < n_outputs; ++k, sum += n_bins) {
    const double* pull = pull_.data() + k * bag.n;
    if (k > 0)
      for (size_t i = 0; i < bag.n; ++i) sum[place_[i]] += pull[i];
    for (size_t b = 1; b < n_bins; ++b) sum[b] += sum[b - 1];
    add_squares(sum, of_class_[k], n_bins, unused, squares_[0].data(), squares_[1].data());
  }
}

// Puts the rows of a node into the bins of a direction. With fewer rows than bins, empty bins are left out.
BestBin::Bins BestBin::place_rows(const Bag& bag, size_t direction) {
  const uint8_t* bins = directions_.bins(direction);
  if (place_.size() < bag.n) place_.resize(bag.n);
  for (size_t i = 0; i < bag.n; ++i) place_[i] = bins[bag.row[i]];
  const size_t n_bins = directions_.n_bins(direction);
  return bag.n < n_bins ? leave_out_empty(bag.n) : Bins{n_bins, true};
}

BestBin::Bins BestBin::leave_out_empty(size_t n) {
  std::array<uint64_t, 4> used{};
  for (size_t i = 0; i < n; ++i) used[place_[i] >> 6] |= uint64_t{1} << (place_[i] & 63);
  std::array<uint8_t, 256> place_of;
  of_place_.clear();
  for (size_t word = 0; word < used.size(); ++word)
    for (uint64_t left = used[word]; left != 0; left &= left - 1) {
      const auto bin = static_cast<uint8_t>(64 * word + static_cast<size_t>(std::countr_zero(left)));
      place_of[bin] = static_cast<uint8_t>(of_place_.size());
      of_place_.push_back(bin);
    }
  for (size_t i = 0; i < n; ++i) place_[i] = place_of[place_[i]];
  return {of_place_.size(), false};
}

// Returns the best cut and the sides of the rows.
void BestBin::take(const Bag& bag, DrawnNodes& node, DrawnSplit& split) {
  directions_.use(best_.direction, round_);
  const uint8_t* bins = directions_.bins(best_.direction);
  for (size_t i = 0; i < bag.n; ++i) node.sides().best()[i] = bins[bag.row[i]] > best_.below;
  const bool is_axis = best_.direction < directions_.n_axes();
  split.feature = is_axis ? static_cast<int32_t>(best_.direction) : -1;
  split.terms = is_axis ? nullptr : directions_.terms(best_.direction);
  split.threshold = directions_.threshold(best_.direction, best_.below, best_.above);
  split.value = best_.value;
  if (!data_.targets.empty()) split.uncut = uncut_;
}

}  // namespace oblique
