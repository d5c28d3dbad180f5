// Python bindings of the growth of whole trees.
#include "bindings/bindings.hpp"
#include "grow/number_growth.hpp"

namespace oblique {
namespace {

using Flag = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
void check_training(const Rows<T>& x, const Codes& y, const std::optional<Doubles>& weights, size_t n_classes) {
  require(x.shape(0) >= 1 && x.shape(1) >= 1 && n_classes >= 1, "X must have at least one row and one column");
  check_rows(x, y, weights, n_classes);
}

nb::dict as_dict(GrownTree&& tree, const SearchCounts& searched) {
  nb::dict out = arrays_of(std::move(tree));
  out["directions"] = searched.directions;
  out["refined"] = searched.refined;
  out["bins"] = searched.bins;
  return out;
}

template <class T>
nb::dict grow(const Rows<T>& x, const Codes& y, const std::optional<Doubles>& weights, size_t n_classes,
              const std::string& family_name, const nb::dict& params, const std::optional<Codes>& of_feature,
              int n_threads, const std::optional<Flag>& stop, const std::optional<Codes>& signs_given) {
  check_training(x, y, weights, n_classes);
  require(!stop || stop->shape(0) == 1, "stop must be one number");
  const Family& family = family_of(family_name);
  const Options options = read_options(family, growth_options(), params);
  const Levels levels = levels_of(of_feature, x.shape(1));
  if (is_quantitative(family, options) && levels.any())
    throw nb::value_error(("family '" + family.name + "' takes quantitative features only").c_str());
  const std::optional<Signs> signs = signs_of(signs_given, x.shape(1), n_classes);
  GrownTree tree;
  SearchTally searched;
  {
    const Released released;
    std::optional<Interruptible> stoppable;
    if (stop)
      stoppable.emplace([flag = static_cast<const volatile uint8_t*>(stop->data())] {
        serve_signals();
        if (*flag != 0) throw std::runtime_error("the growth of the tree was stopped");
      });
    const Training data{x.data(), y.data(), data_of(weights), x.shape(0), n_classes, levels, signs ? &*signs : nullptr};
    Team team(n_threads);
    team.run([&] { tree = grow_tree(data, family, options, team, searched); });
  }
  return as_dict(std::move(tree), searched.all());
}

nb::dict number_tree(const Matrix& x, const Doubles& y, const std::string& family_name, const nb::dict& params,
                     size_t min_leaf, int64_t max_depth, double perfect) {
  const size_t n = x.shape(0), p = x.shape(1);
  require(n >= 1 && p >= 1 && n < (size_t{1} << kPayloadBits), "X must have from 1 to 2^24 - 1 rows and a column");
  require(y.shape(0) == n, "y must have one entry per row of X");
  const Family& family = family_of(family_name);
  const Options options = read_options(family, search_options(), params);
  NumberTree grown;
  {
    const Released released;
    const uint64_t seed = static_cast<uint64_t>(options.integer("seed"));
    grown = NumberGrower(x.data(), y.data(), n, p, family.make(options), search_of(options),
                         {min_leaf, max_depth, perfect, seed})
                .grow();
  }
  nb::dict out = arrays_of(std::move(grown.tree));
  out["means"] = array(std::move(grown.means));
  out["squares"] = array(std::move(grown.squares));
  return out;
}

nb::object split(const Matrix& x, const Codes& y, const std::optional<Doubles>& weights, size_t n_classes,
                 const std::string& family_name, const nb::dict& params, uint64_t path) {
  check_training(x, y, weights, n_classes);
  const Family& family = family_of(family_name);
  const Options options = read_options(family, search_options(), params);
  const Levels levels(std::vector<int32_t>(x.shape(1), 0));
  Split out;
  bool is_found = false;
  {
    const Released released;
    Team alone(1);
    SearchTally searched;
    const size_t n = x.shape(0);
    MemoryRows rows(x.data(), y.data(), data_of(weights), n, n_classes, levels, family.adds_up || weights, n);
    const auto splitter = tree_splitter(rows, family, options, {}, nullptr, alone, searched);
    OpenNode<MemoryRows::Place> all{.place = rows.root(alone), .path = path};
    MemoryRows::Place left, right;
    is_found = splitter->split(all, false, left, right);
    out = splitter->best_split;
  }
  if (!is_found) return nb::none();
  return nb::make_tuple(array(std::move(out.normal)), out.threshold, out.gain, out.is_final);
}

// The rows of one node of quantitative features, in their canonical order.
class OneNode {
 public:
  OneNode(const Matrix& x, const Codes& y, const std::optional<Doubles>& weights, const Options& options, uint64_t path)
      : levels_(std::vector<int32_t>(x.shape(1), 0)), alone_(1),
        rows_(x.data(), y.data(), data_of(weights), x.shape(0), levels_, true),
        block_(rows_.copy(0, x.shape(0), alone_)), view_(rows_), options_(search_of(options)),
        search_(make_search(options_)),
        node_{view_.node(0, x.shape(0), block_.get()),        spread_, view_.predicted(), *search_, options_,
              static_cast<uint64_t>(options.integer("seed")), path} {
    spread_.measure(node_.rows);
    search_->begin(node_.rows);
  }

  const Node& node() const { return node_; }

 private:
  const Levels levels_;
  Team alone_;
  WorkingRows rows_;
  const std::shared_ptr<RowBlock> block_;
  NodeView view_;
  const SearchOptions options_;
  std::unique_ptr<NodeSearch> search_;
  Spread spread_;
  Node node_;
};

nb::list groups_of(Candidates&& candidates, size_t p) {
  nb::list out;
  for (const Candidates::Group& group : candidates.groups()) {
    for (const Space& space : group.spaces)
      if (space.original)
        out.append(nb::make_tuple("axes"));
      else
        out.append(nb::make_tuple("reflection", array(Vector(space.u), {p})));
    if (group.directions.empty()) continue;
    Vector rows;
    for (const Vector& each : group.directions) rows.insert(rows.end(), each.begin(), each.end());
    const size_t k = group.directions.size();
    nb::object thresholds = nb::none();
    if (!group.thresholds.empty()) thresholds = array(Vector(group.thresholds), {k});
    out.append(nb::make_tuple("directions", array(std::move(rows), {k, p}), thresholds));
  }
  return out;
}

nb::list propose(const Matrix& x, const Codes& y, const std::optional<Doubles>& weights, size_t n_classes,
                 const std::string& family_name, const nb::dict& params, uint64_t path) {
  check_training(x, y, weights, n_classes);
  const Family& family = family_of(family_name);
  const Options options = read_options(family, search_options(), params);
  Candidates candidates;
  {
    const Released released;
    const OneNode problem(x, y, weights, options, path);
    if (problem.node().rows.n_classes > 1) family.make(options)->propose(problem.node(), candidates);
  }
  return groups_of(std::move(candidates), x.shape(1));
}

nb::tuple polish(const Matrix& x, const Codes& y, const std::optional<Doubles>& weights, size_t n_classes,
                 const nb::dict& params, const Doubles& normal, double threshold, double gain, uint64_t path) {
  check_training(x, y, weights, n_classes);
  const Options options("polish", search_options(), option_values("polish", params));
  require(normal.shape(0) == x.shape(1), "the normal needs one component per feature");
  Split split{vector_of(normal), threshold, gain, true, 0};
  {
    const Released released;
    const OneNode problem(x, y, weights, options, path);
    if (problem.node().rows.n_classes > 1) {
      Finish(problem.node().options, {.polish = true}).polish(problem.node(), split);
      if (!split.is_final) {
        Vector z(x.shape(0));
        problem.node().predicted.project(split.normal.data(), z.data());
        settle(z.data(), z.size(), split.threshold);
      }
    }
  }
  return nb::make_tuple(array(std::move(split.normal)), split.threshold, split.gain);
}

nb::dict list_families() {
  nb::dict out;
  for (const auto& [name, family] : families()) {
    nb::dict options;
    for (const auto& each : {growth_options(), family.options})
      for (const Option& option : each) options[option.name.c_str()] = described(option);
    out[name.c_str()] = options;
  }
  return out;
}

}  // namespace

void bind_growth(nb::module_& m) {
  families();  // a family with a wrong declaration stops the import
  m.def("grow", &grow<double>, "X"_array, "y"_array, "weights"_array.none(), "n_classes"_a, "family"_a, "options"_a,
        "levels"_maybe, "n_threads"_a = 1, "stop"_maybe, "signs"_maybe,
        "Grow a whole tree. X (n, p) float64 or float32, C order, finite; y (n,) int32 codes; weights (n,) float64, "
        "smallest 1, or None; options as `families` lists them for the family, all of them, max_depth -1 for no "
        "limit; levels (p,) int32, the number of levels of a feature that holds codes 0, 1, ..., 0 for a "
        "quantitative one; n_threads, which changes nothing but time and how much of the search bounds spare; stop "
        "(1,) uint8, where another thread writes 1 to end the growth with a RuntimeError; signs (p,) int32 of 1, -1 "
        "and 0, with which the share of the second of two classes never falls, or never rises, as a feature grows. "
        "Returns the tree's arrays and search counts as a dict.");
  m.def("grow", &grow<float>, "X"_array, "y"_array, "weights"_array.none(), "n_classes"_a, "family"_a, "options"_a,
        "levels"_maybe, "n_threads"_a = 1, "stop"_maybe, "signs"_maybe);
  m.def("number_tree", &number_tree, "X"_array, "y"_array, "family"_a, "options"_a, "min_leaf"_a, "max_depth"_a,
        "perfect"_a,
        "Grow a regression tree by a heuristic of classification on the rows above a node's mean and the others. X "
        "(n, p), y (n,) in an order that depends on their content alone; options of a search and of the family; "
        "max_depth -1 for no limit; a node below a share `perfect` of the root's sum of squares is a leaf. Returns the "
        "arrays of `grow`, with the means and sums of squares of nodes.");
  m.def("split", &split, "X"_array, "y"_array, "weights"_array.none(), "n_classes"_a, "family"_a, "options"_a,
        "path"_a = kRootPath,
        "Split that a family finds at one node of quantitative features: (normal (p,), threshold, gain, whether the "
        "threshold is the family's own) or None. Options are those of a search and of the family, not those of growth; "
        "path names the node's random streams.");
  m.def("propose", &propose, "X"_array, "y"_array, "weights"_array.none(), "n_classes"_a, "family"_a, "options"_a,
        "path"_a = kRootPath,
        "Where a family would look for the split of one node of quantitative features, as `search` takes it. Options "
        "as in `split`.");
  m.def("polish", &polish, "X"_array, "y"_array, "weights"_array.none(), "n_classes"_a, "options"_a, "normal"_array,
        "threshold"_a, "gain"_a, "path"_a = kRootPath,
        "What growth makes of a split that was found at one node of quantitative features, with the option polish: "
        "(normal (p,), threshold, gain). Options are those of a search.");
  m.def(
      "copied_whole_up_to", [](std::optional<size_t> bytes) { return exchanged(copied_whole_up_to, bytes); },
      "bytes"_a = nb::none(),
      "Bytes, in double precision, up to which a table is copied as a whole for growth; sets it, for tests, and "
      "returns what it was.");
  m.def("families", &list_families, "The families that `grow` knows: name -> option -> what the option may be.");
}

}  // namespace oblique
