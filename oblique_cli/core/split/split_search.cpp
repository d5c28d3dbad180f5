#include "split/bin_tactic.hpp"
#include "split/criteria.hpp"
#include "split/cut_search.hpp"
#include "split/look_tactic.hpp"

namespace oblique {

// The reference search: it sorts the rows along every direction and computes the value of every cut from scratch.
template <class Criterion>
class PlainSearch : public CutSearch<Criterion> {
 public:
  using CutSearch<Criterion>::CutSearch;

  bool is_over(int64_t) const override { return false; }

 protected:
  void search(Direction& d) override {
    if (this->project(d)) search_plainly(d);
  }

  void search_plainly(const Direction& d) {
    for_each_cut(d, [&](double threshold) { this->offer(d.order, threshold); });
  }

  // Calls take(threshold) for every cut with enough weight on both sides, with its left weights in `left`.
  template <class Take>
  void for_each_cut(const Direction& d, const Take& take) {
    ++this->counts.refined;
    rows_.clear();
    for (int k = 0; k < this->rows->n_classes; ++k)
      for (size_t i = this->rows->first_row[k]; i < this->rows->first_row[k + 1]; ++i)
        rows_.push_back({d.z[i], this->weight(i), k});
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.z < b.z; });
    std::fill(this->left.begin(), this->left.end(), 0.0);
    const double gap = this->strict ? 0.0 : d.distinct;
    double s = 0.0;
    for (size_t i = 0; i + 1 < rows_.size(); ++i) {
      this->left[rows_[i].code] += rows_[i].weight;
      s += rows_[i].weight;
      if (rows_[i + 1].z - rows_[i].z > gap && this->is_enough(s, this->min_leaf_) &&
          this->is_allowed(this->left.data()))
        take(middle_of_gap(rows_[i].z, rows_[i + 1].z));
    }
  }

 private:
  struct Row {
    double z, weight;
    int code;
  };
  std::vector<Row> rows_;
};

// The plain search for a criterion that is a function: one call computes the values of all cuts of a direction.
template <class Criterion>
class BatchSearch final : public PlainSearch<Criterion> {
 public:
  using PlainSearch<Criterion>::PlainSearch;

 protected:
  // The batches depend on the direction alone, so the number of threads changes no value.
  void search(Direction& d) override {
    if (!this->project(d)) return;
    this->for_each_cut(d, [&](double threshold) {
      thresholds_.push_back(threshold);
      left_.insert(left_.end(), this->left.begin(), this->left.end());
      for (size_t k = 0; k < this->left.size(); ++k) right_.push_back(this->totals_.of_class[k] - this->left[k]);
      if (left_.size() >= kAtOnce) offer_all(d.order);
    });
    offer_all(d.order);
  }

 private:
  static constexpr size_t kAtOnce = size_t{1} << 16;  // weights on one side: half a megabyte

  void offer_all(int64_t order) {
    values_.resize(thresholds_.size());
    if (!values_.empty()) this->totals_.runtime_criterion->values(left_, right_, values_.size(), values_.data());
    for (size_t i = 0; i < values_.size(); ++i) this->front_.offer(order, thresholds_[i], values_[i]);
    thresholds_.clear();
    left_.clear();
    right_.clear();
  }

  std::vector<double> thresholds_, left_, right_, values_;
};

// Exact search over many directions without sorting the rows along each: the result of PlainSearch, with the same score
// and tie rule (front.hpp), by a chain of tactics.
//
//   looks      coarse counts along a reflected direction, before its rows are projected
//   rare rows  bounds from the rows of all classes except the most frequent, if these rows are few
//   bins       class counts in equal-width bins, with an upper bound of the value of the cuts in each bin
//   parts      division of open bins that hold many rows
//   sort       sorting of the rows of open bins
//
// The plain search handles the directions that no tactic completes.
//
// Under the tolerant tie rule two projections are distinct if they differ by more than 1e-9 of the projection's scale
// (spread.hpp). The strict rule accepts any difference and uses no tactic.
template <class Criterion>
class FastSearch final : public PlainSearch<Criterion> {
 public:
  explicit FastSearch(const SearchOptions& options) : PlainSearch<Criterion>(options), bins_(*this) {
    const auto takes_part = [&](const char* tactic) {
      return std::find(options.without.begin(), options.without.end(), tactic) == options.without.end();
    };
    auto rare = std::make_unique<RareTactic<Criterion>>(*this);
    if (takes_part("looks"))
      looks_ = std::make_unique<LookTactic<Criterion>>(*this, takes_part("rare rows") ? rare.get() : nullptr);
    if (takes_part("rare rows")) chain_.push_back(std::move(rare));
    if (takes_part("bins")) chain_.push_back(std::make_unique<BinTactic<Criterion>>(*this, bins_));
    if (takes_part("parts")) chain_.push_back(std::make_unique<PartTactic<Criterion>>(*this, bins_));
    if (takes_part("sort")) chain_.push_back(std::make_unique<SortTactic<Criterion>>(*this, bins_));
  }

  void begin(const NodeRows& of_node) override {
    PlainSearch<Criterion>::begin(of_node);
    for (const auto& tactic : chain_) tactic->begin();
    if (looks_) looks_->begin();
  }

  bool is_over(int64_t order) const override { return CutSearch<Criterion>::is_over(order); }

 protected:
  void search(Direction& d) override {
    if ((looks_ && looks_->settles(d)) || !this->project(d)) return;
    bins_.assume(d.w != nullptr);
    do {
      bins_.clear();
      if (!is_settled(d)) this->search_plainly(d);
    } while (bins_.assumed_wrongly());
  }

 private:
  bool is_settled(Direction& d) {
    for (const auto& tactic : chain_)
      if (tactic->settles(d)) return true;
    return false;
  }

  OpenBins<Criterion> bins_;
  std::unique_ptr<Tactic> looks_;
  std::vector<std::unique_ptr<Tactic>> chain_;
};

namespace {

// Never destroyed: the objects that its functions refer to may not exist at the end of the process.
struct GivenCriteria {
  std::mutex guard;
  std::map<std::string, GivenCriterion> by_name;

  static GivenCriteria& all() {
    static auto* const only = new GivenCriteria;
    return *only;
  }
};

}  // namespace

void give_criterion(const std::string& name, GivenCriterion criterion) {
  const std::vector<std::string>& core_names = criterion_names();
  GivenCriteria& registry = GivenCriteria::all();
  const std::lock_guard lock(registry.guard);
  if (std::find(core_names.begin(), core_names.end(), name) != core_names.end() || registry.by_name.contains(name))
    throw std::invalid_argument("there is a criterion '" + name + "' already");
  registry.by_name.emplace(name, std::move(criterion));
}

const GivenCriterion* given_criterion(const std::string& name) {
  GivenCriteria& registry = GivenCriteria::all();
  const std::lock_guard lock(registry.guard);
  const auto entry = registry.by_name.find(name);
  return entry == registry.by_name.end() ? nullptr : &entry->second;
}

std::vector<std::string> given_criteria() {
  GivenCriteria& registry = GivenCriteria::all();
  const std::lock_guard lock(registry.guard);
  std::vector<std::string> names;
  for (const auto& each : registry.by_name) names.push_back(each.first);
  return names;
}

const std::vector<std::string>& criterion_names() {
  static const std::vector<std::string> all = names_of(Criteria{});
  return all;
}

const std::vector<std::string>& tactics() {
  static const std::vector<std::string> all{"looks", "rare rows", "bins", "parts", "sort"};
  return all;
}

std::unique_ptr<NodeSearch> make_search(const SearchOptions& options) {
  for (const std::string& name : options.without)
    if (std::find(tactics().begin(), tactics().end(), name) == tactics().end())
      throw std::invalid_argument("the search has no tactic '" + name + "'");
  return with_criterion(options.criterion, [&]<class Criterion>() -> std::unique_ptr<NodeSearch> {
    if constexpr (std::is_same_v<Criterion, Given>) return std::make_unique<BatchSearch<Criterion>>(options);
    if (options.exhaustive) return std::make_unique<PlainSearch<Criterion>>(options);
    return std::make_unique<FastSearch<Criterion>>(options);
  });
}

}  // namespace oblique
