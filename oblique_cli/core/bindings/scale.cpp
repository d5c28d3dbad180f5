// Python bindings of growth from blocks of rows: the counts that a pass takes from a block, and the search that merges
// the counts of all blocks. Only oblique_cli/scale, which drives the passes, uses them.
#include "bindings/bindings.hpp"
#include "grow/level_grower.hpp"
#include "heuristic/block_moments.hpp"
#include "heuristic/moments.hpp"
#include "rows/block.hpp"

namespace oblique {
namespace {

template <class T>
using In = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

void require_size(bool holds) { require(holds, "an array has the wrong size"); }
template <class Array>
auto sized(const Array& values, size_t size) {
  require_size(values.size() == size);
  return values.data();
}

class HeldBlock {
 public:
  HeldBlock(const In<double>& columns, const Codes& codes, const Codes& slots, const std::optional<Doubles>& weights,
            size_t n_slots, size_t n_classes, const std::optional<Codes>& levels,
            const std::optional<In<double>>& scores, const std::optional<InOut<double>>& room)
      : room_(room), p(columns.shape(0)), n_slots_(n_slots), n_classes_(n_classes), levels_(levels_of(levels, p)) {
    const size_t n = codes.shape(0);
    require_size(columns.ndim() == 2 && columns.shape(1) == n && slots.shape(0) == n && n < (size_t{1} << 32));
    require_size(!weights || weights->shape(0) == n);
    require_size(!scores || scores->size() == n_slots * levels_.width);
    require_size(!room || room->size() >= n * p);
    const Released released;  // other threads prepare their chunks at the same time
    check_codes(codes, n_classes);
    for (size_t i = 0; i < n; ++i)
      require(slots.data()[i] < static_cast<int64_t>(n_slots), "slots must be below n_slots");
    block_ = std::make_unique<Block>(RawRows{columns.data(), codes.data(), slots.data(), data_of(weights), n, p},
                                     n_slots, n_classes, levels_, data_of(scores), data_of(room));
    n_raw_ = n;
  }

  size_t n_rows() const { return block_->n_rows(); }

  void add_boxes(InOut<int64_t> rows, InOut<double> weight, InOut<double> heaviest, InOut<double> low,
                 InOut<double> high, InOut<double> tables) {
    const size_t n = groups(), n_places = levels_.width + levels_.features.size();
    const Released released;
    block_->add_boxes({sized(rows, n), sized(weight, n), sized(heaviest, n), sized(low, n * p), sized(high, n * p),
                       sized(tables, n * n_places)});
  }

  void add_moments(In<double> center, In<double> inverse, In<double> unit, InOut<int64_t> high, InOut<int64_t> low) {
    const size_t n = groups(), size = n * packed_size(p);
    const Released released;
    block_->add_moments(sized(center, n * p), sized(inverse, n * p), sized(unit, n), sized(high, size),
                        sized(low, size));
  }

  void raise_squares(In<double> mean, In<double> inverse, In<double> factor, InOut<double> largest) {
    const size_t n = groups();
    const Released released;
    block_->raise_squares(sized(mean, n * p), sized(inverse, n * p), sized(factor, n_slots_), sized(largest, n));
  }

  void add_unit_moments(In<double> mean, In<double> inverse, In<double> factor, In<double> least, In<double> unit,
                        InOut<int64_t> high, InOut<int64_t> low) {
    const size_t n = groups(), size = n * packed_size(p);
    const Released released;
    block_->add_unit_moments(sized(mean, n * p), sized(inverse, n * p), sized(factor, n_slots_), sized(least, n),
                             sized(unit, n), sized(high, size), sized(low, size));
  }

  void add_left(In<double> normals, In<double> thresholds, InOut<double> left) {
    require_size(thresholds.ndim() == 2 && thresholds.shape(0) == n_slots_);
    const size_t planes = thresholds.size();
    const Released released;
    block_->add_left(sized(normals, planes * p), thresholds.data(), thresholds.shape(1),
                     sized(left, planes * n_classes_));
  }

  void add_histograms(In<int64_t> first_space, In<double> u, In<int64_t> place, In<double> low, In<double> scale,
                      int n_bins, std::optional<InOut<uint32_t>> counts, std::optional<InOut<double>> weighted,
                      InOut<double> least, InOut<double> largest) {
    const SlotSpaces spaces = checked(first_space, u, place, low.size());
    require_size(n_bins >= 2 && n_bins <= 256 && counts.has_value() != weighted.has_value());
    const size_t n = low.size();
    require_size((counts ? counts->size() : weighted->size()) == n * n_classes_ * static_cast<size_t>(n_bins));
    const Released released;
    block_->add_histograms(spaces, low.data(), sized(scale, n), n_bins, data_of(counts), data_of(weighted),
                           sized(least, n), sized(largest, n));
  }

  nb::tuple look(In<int64_t> first_space, In<double> u, In<int64_t> place, In<double> low, In<double> scale, int n_bins,
                 In<int64_t> direction, In<int32_t> bin, In<int32_t> after, In<double> from, In<double> to,
                 In<double> origin, In<double> step, In<int64_t> first_part, std::optional<InOut<uint32_t>> counts,
                 std::optional<InOut<double>> weighted, InOut<double> part_low, InOut<double> part_high,
                 InOut<double> smallest) {
    const SlotSpaces spaces = checked(first_space, u, place, low.size());
    const size_t n = direction.size();
    require_size(bin.size() == n && after.size() == n && smallest.size() == n && scale.size() == low.size());
    require_size(from.size() == n && to.size() == n && origin.size() == n && step.size() == n);
    require_size(first_part.size() == n + 1 && first_part.data()[0] == 0 && n_bins >= 2 && n_bins <= 256);
    for (size_t e = 0; e < n; ++e) {
      require_size(bin.data()[e] >= 0 && bin.data()[e] < n_bins && after.data()[e] < n_bins);
      require_size(first_part.data()[e] <= first_part.data()[e + 1]);
      require(direction.data()[e] >= 0 && (e == 0 || direction.data()[e - 1] <= direction.data()[e]),
              "directions of cells must rise");
    }
    const size_t parts = first_part.data()[n];
    require_size(counts.has_value() != weighted.has_value() && part_low.size() == parts && part_high.size() == parts);
    require_size((counts ? counts->size() : weighted->size()) == parts * n_classes_);
    GatheredRows gathered = without_lock([&] {
      return block_->look(spaces, low.data(), scale.data(), n_bins,
                          {direction.data(), bin.data(), after.data(), from.data(), to.data(), origin.data(),
                           step.data(), first_part.data(), n},
                          {data_of(counts), data_of(weighted), part_low.data(), part_high.data()}, smallest.data());
    });
    return nb::make_tuple(array(std::move(gathered.entry)), array(std::move(gathered.code)),
                          array(std::move(gathered.z)), array(std::move(gathered.weight)));
  }

  void route(In<double> normals, In<double> thresholds, In<int32_t> left_slot, In<int32_t> right_slot,
             InOut<int32_t> next, InOut<double> below, InOut<double> above) {
    const size_t n = n_slots_;
    const Released released;
    block_->route(sized(normals, n * p), sized(thresholds, n), sized(left_slot, n), sized(right_slot, n),
                  sized(next, n_raw_), sized(below, n), sized(above, n));
  }

 private:
  size_t groups() const { return n_slots_ * n_classes_; }
  SlotSpaces checked(const In<int64_t>& first_space, const In<double>& u, const In<int64_t>& place,
                     size_t directions) const {
    require_size(first_space.size() == n_slots_ + 1 && place.size() == u.size());
    for (size_t s = 0; s < n_slots_; ++s) require_size(first_space.data()[s] <= first_space.data()[s + 1]);
    require_size(first_space.data()[0] == 0 && static_cast<size_t>(first_space.data()[n_slots_]) * p == u.size());
    for (size_t i = 0; i < place.size(); ++i) require_size(place.data()[i] < static_cast<int64_t>(directions));
    return {first_space.data(), u.data(), place.data()};
  }

  std::optional<InOut<double>> room_;
  size_t p, n_slots_, n_classes_, n_raw_ = 0;
  Levels levels_;
  std::unique_ptr<Block> block_;
};

// A node whose rows lie in blocks: the sums that its heuristic requests, and the search among its directions.
class HeldNode {
 public:
  HeldNode(const std::string& family, const nb::dict& params, const In<int64_t>& rows, const Doubles& weight,
           const Doubles& heaviest, const Matrix& low, const Matrix& high, const In<double>& tables,
           const std::optional<Codes>& levels, bool weighted)
      : n_codes_(rows.size()), options_(read_options(family_of(family), growth_options(), params)) {
    const size_t p = low.shape(1);
    const Levels of_features = levels_of(levels, p);
    require_size(weight.size() == n_codes_ && heaviest.size() == n_codes_ && low.shape(0) == n_codes_ &&
                 high.size() == low.size());
    require_size(tables.size() == n_codes_ * (of_features.width + of_features.features.size()));
    require(family_of(family).from_sums, "the family needs all rows of a node");
    heuristic_ = family_of(family).make(options_);
    proposer_ = static_cast<SumsProposer*>(heuristic_.get());
    moments_ = std::make_unique<BlockMoments>(
        BlockMoments::Facts{rows.data(), weight.data(), heaviest.data(), low.data(), high.data(), tables.data()},
        n_codes_, of_features, weighted, search_of(options_), proposer_->sums());
    require(moments_->n_classes() >= 1, "a node has rows");
  }

  const char* wants() const { return moments_->wants(); }
  nb::object scores() const { return array(Vector(moments_->level_scores())); }

  // What the next pass (`wants`) has to compute over the rows of this node.
  nb::dict request() const {
    nb::dict out;
    moments_->each_argument([&](const char* name, const Vector& values, const std::vector<size_t>& shape) {
      out[name] = array(Vector(values), shape);
    });
    const std::string wants = moments_->wants();
    if (wants == "squares" || wants == "unit_moments") out["factor"] = moments_->factor();
    return out;
  }

  void take(const nb::dict& answer) {
    const size_t size = n_codes_ * packed_size(moments_->n_features());
    const std::string wants = moments_->wants();
    if (wants == "squares" || wants == "left") {
      const auto sums = nb::cast<In<double>>(answer[wants.c_str()], false);
      require_size(sums.size() == n_codes_ * (wants == "left" ? 2 : 1));
      if (wants == "left")
        moments_->take_left(sums.data());
      else
        moments_->take_squares(sums.data());
    } else if (!wants.empty()) {
      for (const char* name : {"high_sums", "low_sums"}) {
        sums_.push_back(nb::cast<In<int64_t>>(answer[name], false));
        require_size(sums_.back().size() == size);
      }
      const int64_t *high = sums_[sums_.size() - 2].data(), *low = sums_.back().data();
      const Released released;
      moments_->take_sums(high, low);
    }
  }

  // The directions to search, once the heuristic needs no further sums: (u, order, low, high) in enumeration order,
  // where low and high bound the projections of the rows approximately; or None.
  nb::object directions() {
    Candidates candidates;
    without_lock([&] { proposer_->propose(*moments_, candidates); });
    require(candidates.groups().size() <= 1, "blocks are searched for one kind of candidates");
    if (candidates.groups().empty()) return nb::none();
    const Candidates::Group& group = candidates.groups()[0];
    if (!group.directions.empty()) {
      require(group.thresholds.size() == 1, "blocks know one hyperplane, the bisector");
      given_ = {group.directions[0], group.thresholds[0], 0.0, true, 0};
      if (!moments_->gain_of_bisector(given_.gain)) given_.normal.clear();
      return nb::none();
    }
    spaces_ = group.spaces;
    without_lock([&] { directions_ = moments_->directions(spaces_); });
    return nb::make_tuple(array(Vector(directions_.u), {spaces_.size(), moments_->n_features()}),
                          array(std::vector<int64_t>(directions_.order)), array(Vector(directions_.low)),
                          array(Vector(directions_.high)));
  }

  void begin(std::optional<In<uint32_t>> counts, std::optional<In<double>> weighted, In<double> least,
             In<double> largest, In<double> low, In<double> scale, size_t n_bins) {
    const size_t d = directions_.order.size();
    require_size(counts.has_value() != weighted.has_value() && n_bins >= 2 && n_bins <= 256);
    require_size((counts ? counts->size() : weighted->size()) == d * n_codes_ * n_bins);
    require_size(least.size() == d && largest.size() == d && low.size() == d && scale.size() == d);
    counts_ = counts;
    weighted_ = weighted;
    search_ = make_slot_search(search_of(options_), moments_->of_class());
    SlotSearch::Histograms histograms{directions_.order,
                                      moments_->present(),
                                      vector_of(least),
                                      vector_of(largest),
                                      vector_of(low),
                                      vector_of(scale),
                                      directions_.distinct,
                                      data_of(counts),
                                      data_of(weighted),
                                      n_codes_,
                                      n_bins,
                                      moments_->n_rows()};
    const Released released;
    search_->begin(std::move(histograms));
  }

  // The requested cells: direction, bin, after, from, to, origin, scale, parts.
  nb::tuple wanted(double bytes, double of_row, double of_part, double few_rows) {
    require(search_ != nullptr, "the search has not begun");
    std::vector<Look> looks = without_lock([&] { return search_->wanted({bytes, of_row, of_part, few_rows}); });
    n_wanted_ = looks.size();
    n_parts_ = 0;
    for (const Look& look : looks) n_parts_ += static_cast<size_t>(look.parts);
    return nb::make_tuple(column_of(looks, &Look::direction), column_of(looks, &Look::bin),
                          column_of(looks, &Look::after), column_of(looks, &Look::from), column_of(looks, &Look::to),
                          column_of(looks, &Look::origin), column_of(looks, &Look::scale),
                          column_of(looks, &Look::parts));
  }

  void take_cells(In<int32_t> entry, In<int32_t> code, In<double> z, In<double> weight,
                  std::optional<In<uint32_t>> counts, std::optional<In<double>> weighted, In<double> low,
                  In<double> high, In<double> smallest) {
    require(search_ != nullptr, "the search has not begun");
    const size_t n = entry.size();
    require_size(code.size() == n && z.size() == n && weight.size() == n && smallest.size() == n_wanted_);
    require_size(counts.has_value() == counts_.has_value() && weighted.has_value() == weighted_.has_value());
    require_size((counts ? counts->size() : weighted->size()) == n_parts_ * n_codes_);
    require_size(low.size() == n_parts_ && high.size() == n_parts_);
    for (size_t i = 0; i < n; ++i) {
      require(code.data()[i] >= 0 && code.data()[i] < static_cast<int64_t>(n_codes_), "code: no such class");
      require(
          entry.data()[i] >= (i == 0 ? 0 : entry.data()[i - 1]) && entry.data()[i] < static_cast<int64_t>(n_wanted_),
          "entries of rows must rise");
    }
    const Released released;
    search_->take({entry.data(), code.data(), z.data(), weight.data(), n, data_of(counts), data_of(weighted),
                   low.data(), high.data(), smallest.data()});
    n_wanted_ = n_parts_ = 0;
  }

  nb::object split() const {
    Split split = given_;
    if (search_) {
      const Cut cut = search_->winner();
      if (cut.order >= 0)
        split = {normal_of(spaces_, moments_->n_features(), cut.order), cut.threshold, search_->gain(cut.value), false,
                 cut.order};
    }
    if (split.normal.empty()) return nb::none();
    return nb::make_tuple(array(std::move(split.normal)), split.threshold, split.gain, split.is_final);
  }

  // Covariance and mean of the k-th class that is present, for tests.
  nb::object class_moments(int k) {
    require(k >= 0 && k < moments_->n_classes() && !sums_.empty(), "no moments of such a class");
    Vector covariance, mean;
    if (!moments_->covariance(k, covariance)) return nb::none();
    const size_t p = moments_->n_features();
    for (size_t j = 0; j < p; ++j) mean.push_back(moments_->mean_of(k, j));
    return nb::make_tuple(array(std::move(covariance), {p, p}), array(std::move(mean)));
  }

 private:
  const size_t n_codes_;
  const Options options_;
  std::unique_ptr<Heuristic> heuristic_;
  SumsProposer* proposer_ = nullptr;
  std::unique_ptr<BlockMoments> moments_;
  std::vector<In<int64_t>> sums_;  // buffers that the moments read
  std::vector<Space> spaces_;
  BlockMoments::Directions directions_;
  Split given_;
  size_t n_wanted_ = 0, n_parts_ = 0;
  std::optional<In<uint32_t>> counts_;  // histograms, which the search reads repeatedly
  std::optional<In<double>> weighted_;
  std::unique_ptr<SlotSearch> search_;
};

class HeldLevels {
 public:
  using Counts = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

  HeldLevels(size_t n_features, size_t n_classes, size_t n_scores, double min_parent, double epsilon, int64_t max_depth)
      : p_(n_features), n_classes_(n_classes), n_scores_(n_scores),
        grower_(n_features, n_classes, n_scores, {min_parent, epsilon, max_depth}) {}

  void begin(const Counts& rows, const Matrix& weight) { grower_.begin(checked(rows, weight, 1)); }

  void resume(const nb::dict& arrays, const Counts& open) {
    GrownTree tree = tree_of(arrays, p_, n_classes_, n_scores_);
    std::vector<LevelGrower::Slot> slots;
    require(open.shape(1) == 2, "open nodes are pairs of a node and its depth");
    for (size_t i = 0; i < open.shape(0); ++i) {
      require(open(i, 0) >= -1 && open(i, 0) < static_cast<int64_t>(tree.size()), "an open node is of the tree");
      slots.push_back({static_cast<int32_t>(open(i, 0)), open(i, 1)});
    }
    grower_.resume(std::move(tree), std::move(slots));
  }

  nb::object open() const {
    std::vector<int64_t> out;
    for (const LevelGrower::Slot& slot : grower_.open()) out.insert(out.end(), {slot.node, slot.depth});
    return array(std::move(out), {grower_.open().size(), 2});
  }

  nb::tuple work(const Counts& rows, const Matrix& weight, int64_t in_memory, int64_t at_once) const {
    LevelGrower::Work work = grower_.work(checked(rows, weight, grower_.open().size()), in_memory, at_once);
    nb::list batches;
    for (std::vector<int32_t>& batch : work.batches) batches.append(array(std::move(batch)));
    return nb::make_tuple(batches, array(std::move(work.searched)));
  }

  void graft(size_t slot, const nb::dict& below) {
    require(slot < grower_.open().size() && grower_.open()[slot].node >= 0, "no such open node");
    grower_.graft(slot, tree_of(below, p_, n_classes_, n_scores_));
  }

  // splits : for each slot (normal, threshold, gain, whether the threshold is final)
  void divide(const Codes& slots, const nb::list& splits, const Matrix& scores, const Doubles& below,
              const Doubles& above, const Counts& rows, const Matrix& weight) {
    const size_t n = slots.shape(0);
    require_size(nb::len(splits) == n && scores.shape(0) == n && scores.shape(1) == n_scores_ && below.shape(0) == n &&
                 above.shape(0) == n);
    std::vector<LevelGrower::Divided> divided;
    for (size_t i = 0; i < n; ++i) {
      const auto slot = static_cast<size_t>(slots(i));
      require(slot < grower_.open().size() && grower_.open()[slot].node >= 0, "no such open node");
      const auto [normal, threshold, gain, is_final] = nb::cast<std::tuple<Doubles, double, double, bool>>(splits[i]);
      require_size(normal.shape(0) == p_);
      divided.push_back(
          {slot, {vector_of(normal), threshold, gain, is_final, 0}, below(i), above(i), scores.data() + i * n_scores_});
    }
    grower_.divide(divided, checked(rows, weight, 2 * n));
  }

  nb::dict arrays() const { return arrays_of(GrownTree(grower_.tree())); }
  nb::dict finish() const { return arrays_of(in_order(grower_.tree())); }

 private:
  SlotCounts checked(const Counts& rows, const Matrix& weight, size_t n_slots) const {
    require_size(rows.shape(0) == n_slots && rows.shape(1) == n_classes_ && weight.shape(0) == n_slots &&
                 weight.shape(1) == n_classes_);
    return {rows.data(), weight.data(), n_slots, n_classes_};
  }

  const size_t p_, n_classes_, n_scores_;
  LevelGrower grower_;
};

nb::list from_sums() {
  nb::list out;
  for (const auto& [name, family] : families())
    if (family.from_sums) out.append(name.c_str());
  return out;
}

// The rows of a chunk that belong to slots, sorted by slot and stable within a slot: their slots, values (m, p), codes
// and weights.
// of_place : the slot of each place, negative for none; a row at a negative place has no slot
nb::tuple rows_of_slots(const In<double>& columns, const Codes& codes, const std::optional<Doubles>& weights,
                        const Codes& places, const Codes& of_place, size_t n_slots) {
  require_size(columns.ndim() == 2);
  const size_t p = columns.shape(0), n = columns.shape(1);
  require_size(codes.shape(0) == n && places.shape(0) == n && (!weights || weights->shape(0) == n));
  std::vector<size_t> start(n_slots + 1, 0), rows;
  std::vector<int32_t> slots, code;
  Vector values, weight;
  {
    const Released released;
    const auto slot_of = [&](size_t i) {
      const int32_t place = places.data()[i];
      return place < 0 ? -1 : of_place.data()[place];
    };
    for (size_t i = 0; i < n; ++i)
      require(places.data()[i] < static_cast<int64_t>(of_place.shape(0)), "a place is beyond those of the level");
    for (size_t place = 0; place < of_place.shape(0); ++place)
      require(of_place.data()[place] < static_cast<int64_t>(n_slots), "slots must be below n_slots");
    for (size_t i = 0; i < n; ++i)
      if (const int32_t slot = slot_of(i); slot >= 0) ++start[static_cast<size_t>(slot) + 1];
    for (size_t slot = 0; slot < n_slots; ++slot) start[slot + 1] += start[slot];
    const size_t m = start[n_slots];
    rows.resize(m);
    slots.resize(m);
    code.resize(m);
    for (size_t i = 0; i < n; ++i)
      if (const int32_t slot = slot_of(i); slot >= 0) {
        const size_t at = start[slot]++;
        rows[at] = i;
        slots[at] = slot;
        code[at] = codes.data()[i];
      }
    // A few hundred rows at a time, so that the output stays in a near cache.
    constexpr size_t stretch = 512;
    values.resize(m * p);
    for (size_t first = 0; first < m; first += stretch)
      for (size_t j = 0; j < p; ++j) {
        const double* column = columns.data() + j * n;
        for (size_t i = first; i < std::min(first + stretch, m); ++i) values[i * p + j] = column[rows[i]];
      }
    if (weights)
      for (const size_t row : rows) weight.push_back(weights->data()[row]);
  }
  const size_t m = rows.size();
  nb::object of_weights = nb::none();
  if (weights) of_weights = array(std::move(weight));
  return nb::make_tuple(array(std::move(slots)), array(std::move(values), {m, p}), array(std::move(code)), of_weights);
}

}  // namespace

void bind_scale(nb::module_& m) {
  nb::class_<HeldBlock>(m, "Block", "Rows of many nodes, and what each pass over them asks (core/rows/block.hpp).")
      .def(nb::init<const In<double>&, const Codes&, const Codes&, const std::optional<Doubles>&, size_t, size_t,
                    const std::optional<Codes>&, const std::optional<In<double>>&,
                    const std::optional<InOut<double>>&>(),
           "columns"_array, "codes"_array, "slots"_array, "weights"_array.none(), "n_slots"_a, "n_classes"_a,
           "levels"_maybe, "scores"_maybe, "room"_maybe)
      .def_prop_ro("n_rows", &HeldBlock::n_rows)
      .def("add_boxes", &HeldBlock::add_boxes, "rows"_array, "weight"_array, "heaviest"_array, "low"_array,
           "high"_array, "tables"_array)
      .def("add_moments", &HeldBlock::add_moments, "center"_array, "inverse"_array, "unit"_array, "high"_array,
           "low"_array)
      .def("raise_squares", &HeldBlock::raise_squares, "mean"_array, "inverse"_array, "factor"_array, "largest"_array)
      .def("add_unit_moments", &HeldBlock::add_unit_moments, "mean"_array, "inverse"_array, "factor"_array,
           "least"_array, "unit"_array, "high"_array, "low"_array)
      .def("add_left", &HeldBlock::add_left, "normals"_array, "thresholds"_array, "left"_array)
      .def("add_histograms", &HeldBlock::add_histograms, "first_space"_array, "u"_array, "place"_array, "low"_array,
           "scale"_array, "n_bins"_a, "counts"_array.none(), "weighted"_array.none(), "least"_array, "largest"_array)
      .def("look", &HeldBlock::look, "first_space"_array, "u"_array, "place"_array, "low"_array, "scale"_array,
           "n_bins"_a, "direction"_array, "bin"_array, "after"_array, "from_"_array, "to"_array, "origin"_array,
           "step"_array, "first_part"_array, "counts"_array.none(), "weighted"_array.none(), "part_low"_array,
           "part_high"_array, "smallest"_array)
      .def("route", &HeldBlock::route, "normals"_array, "thresholds"_array, "left_slot"_array, "right_slot"_array,
           "next"_array, "below"_array, "above"_array);
  nb::class_<HeldNode>(
      m, "BlockNode",
      "A node whose rows lie in blocks: the sums that its heuristic asks of them, and the search among "
      "what it proposes (core/heuristic/block_moments.hpp, core/split/slot_search.hpp).")
      .def(nb::init<const std::string&, const nb::dict&, const In<int64_t>&, const Doubles&, const Doubles&,
                    const Matrix&, const Matrix&, const In<double>&, const std::optional<Codes>&, bool>(),
           "family"_a, "options"_a, "rows"_array, "weight"_array, "heaviest"_array, "low"_array, "high"_array,
           "tables"_array, "levels"_array.none(), "weighted"_a,
           "Options as in `grow`; facts as `Block.add_boxes` gives them.")
      .def_prop_ro("wants", &HeldNode::wants, "The pass that is wanted next, or ''.")
      .def_prop_ro("scores", &HeldNode::scores, "Scores of the levels at the node.")
      .def("request", &HeldNode::request, "What that pass asks of the rows of this node.")
      .def("take", &HeldNode::take, "answer"_a, "The answer of all blocks; arrays of sums are kept, not copied.")
      .def("directions", &HeldNode::directions,
           "(u (k, p), order, low, high) of the directions to be searched, or None.")
      .def("begin", &HeldNode::begin, "counts"_array.none(), "weighted"_array.none(), "least"_array, "largest"_array,
           "low"_array, "scale"_array, "n_bins"_a)
      .def("wanted", &HeldNode::wanted, "bytes"_a, "of_row"_a, "of_part"_a, "few_rows"_a)
      .def("take_cells", &HeldNode::take_cells, "entry"_array, "code"_array, "z"_array, "weight"_array,
           "counts"_array.none(), "weighted"_array.none(), "low"_array, "high"_array, "smallest"_array)
      .def("split", &HeldNode::split, "(normal, threshold, gain, whether the threshold is final), or None.")
      .def("class_moments", &HeldNode::class_moments, "k"_a,
           "(covariance, mean) of a class present; None if its rows are the same.");
  nb::class_<HeldLevels>(
      m, "LevelGrower",
      "A tree under way whose rows lie in blocks, and its open nodes by slots (core/grow/level_grower.hpp).")
      .def(nb::init<size_t, size_t, size_t, double, double, int64_t>(), "n_features"_a, "n_classes"_a, "n_scores"_a,
           "min_parent"_a, "epsilon"_a, "max_depth"_a)
      .def("begin", &HeldLevels::begin, "rows"_array, "weight"_array,
           "Open the root. rows (1, C), weight (1, C) of each class.")
      .def("resume", &HeldLevels::resume, "arrays"_a, "open"_array,
           "Go on with what `arrays` and `open` were; ValueError if they do not go together.")
      .def_prop_ro("open", &HeldLevels::open,
                   "Node and depth of every slot, (n, 2) int64; node -1 for one that is done.")
      .def("work", &HeldLevels::work, "rows"_array, "weight"_array, "in_memory"_a, "at_once"_a,
           "What the level is to do with rows and weight (n, C) of its slots: batches of slots that are grown to their "
           "end in memory, up to in_memory rows each and at_once together, and the slots that are searched.")
      .def("graft", &HeldLevels::graft, "slot"_a, "below"_a, "Put a tree, as `grow` gives it, in the place of a slot.")
      .def("divide", &HeldLevels::divide, "slots"_array, "splits"_a, "scores"_array, "below"_array, "above"_array,
           "rows"_array, "weight"_array,
           "Make the next level: the children of split i stand in slots 2 i and 2 i + 1. splits: as `BlockNode.split` "
           "gives them; below, above: projections next to the threshold; rows, weight (2 n, C) of the children.")
      .def("arrays", &HeldLevels::arrays, "The tree so far, its nodes in the order in which they were opened.")
      .def("finish", &HeldLevels::finish, "The tree, its nodes in their order.");
  m.def("from_sums", &from_sums,
        "The families that can be grown from blocks, because sums over rows are all they need.");
  m.def(
      "rows_of_slots", &rows_of_slots, "columns"_array, "codes"_array, "weights"_array.none(), "places"_array,
      "of_place"_array, "n_slots"_a,
      "Rows of a chunk, columns (p, n), that belong to slots, in the order of these: slots (m,), values (m, p), codes "
      "(m,) and weights (m,) or None. of_place: the slot of each place, below 0 for none.");
  m.def(
      "exact_sums_above", [](std::optional<size_t> rows) { return exchanged(exact_sums_above, rows); },
      "rows"_a = nb::none(),
      "Rows above which the moments of a node are exact sums; sets it, for tests, and returns what it was.");
}

}  // namespace oblique
