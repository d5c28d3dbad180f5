// The interface of a split heuristic, and how to add one.
//
// A native heuristic is one file in heuristic/families. The file registers a family, which is a name, the options that
// the heuristic takes, and a way to make it; nothing else names it. _core.grow then grows its trees, _core.families
// lists it, and a Python proposer uses it by `native = NAME` and `native_options()`. This is a whole file, the
// directions along which all rows of a node spread:
//
//   #include "common/kernels.hpp"
//   #include "heuristic/class_moments.hpp"
//   #include "heuristic/heuristic.hpp"
//
//   namespace oblique {
//   namespace {
//
//   class PrincipalAxes final : public Proposer {
//    public:
//     explicit PrincipalAxes(const Options& options) : tolerance_(options.number("tolerance")) {}
//
//     void propose(const Node& node, Candidates& candidates) override {
//       ClassMoments moments;
//       SymmetricEigen eigen;
//       Vector covariance, axes;
//       const size_t p = node.n_features();
//       moments.begin(node.spread.widest());
//       if (!moments.covariance(node.rows, 0, node.rows.n, covariance)) return;
//       principal_axes(eigen, covariance.data(), static_cast<int>(p), tolerance_, -1.0, false, axes);
//       for (size_t at = 0; at < axes.size(); at += p)
//         candidates.add_direction(Vector(axes.data() + at, axes.data() + at + p));
//     }
//
//    private:
//     const double tolerance_;
//   };
//
//   const Registered family("principal_axes", {number("tolerance")}, make<PrincipalAxes>);
//
//   }  // namespace
//   }  // namespace oblique
//
// A heuristic that needs only sums over rows derives from SumsProposer (moments.hpp): it names the sums and proposes
// directions from them, so it also grows trees of tables larger than memory. Others need all rows of a node.
#pragma once

#include "common/options.hpp"
#include "split/candidates.hpp"

namespace oblique {

// Finds the splits of one tree, node by node. It may keep buffers, but its result depends on the node alone.
class Heuristic {
 public:
  virtual ~Heuristic() = default;
  // Finds the split of a node; false makes the node a leaf. A node has rows of at least two classes.
  virtual bool split(const Node& node, Split& out) = 0;
  // Adds candidates in enumeration order, for a search that combines heuristics, and restores node.search.
  virtual void propose(const Node& node, Candidates& candidates) = 0;
  // Whether it reads rows by Stretches and ClassMoments alone. The rows of large nodes are then not copied.
  virtual bool reads_stretches() const { return false; }
};

// A heuristic that proposes directions and leaves the decision to the search, like most heuristics. Without a candidate
// the node is a leaf. Sums over rows have the same bits in every run, because rows come in a canonical order;
// `node.stream` is the only source of random numbers.
class Proposer : public Heuristic {
 public:
  bool split(const Node& node, Split& out) final {
    candidates_.clear();
    propose(node, candidates_);
    return search_.find(node, candidates_, out);
  }

 private:
  Candidates candidates_;
  CandidateSearch search_;
};

class SumsProposer;

struct Family {
  using Make = std::unique_ptr<Heuristic> (*)(const Options& options);

  std::string name;
  std::vector<Option> options;  // beyond growth_options()
  Make make = nullptr;
  bool quantitative = false;  // whether the heuristic cannot use qualitative features
  bool from_sums = false;     // whether it is a SumsProposer, which can grow from tables beyond memory
  bool adds_up = true;        // whether it sums values of rows; otherwise rows need no sorting
  std::string file;           // for messages
};

// Makes heuristics whose constructor takes their options.
struct Maker {
  Family::Make make;
  bool from_sums;
};
template <class H>
inline constexpr Maker make{
    [](const Options& options) -> std::unique_ptr<Heuristic> { return std::make_unique<H>(options); },
    std::is_base_of_v<SumsProposer, H>};

// Registers a family when the core is loaded; a static object in the family's file.
class Registered {
 public:
  Registered(const char* name, std::initializer_list<Option> options, const Maker& maker, bool quantitative = false,
             bool adds_up = true, const char* file = __builtin_FILE());
};

// The families by name. The first call throws std::invalid_argument for a repeated name or a repeated option.
const std::map<std::string, Family>& families();

// Throws std::invalid_argument with the list of names.
const Family& family_of(const std::string& name);

// The options of a search, and the options of growth that every family has.
std::vector<Option> search_options();
std::vector<Option> growth_options();

Options options_of(const Family& family, const std::vector<Option>& common, std::map<std::string, OptionValue> values);

// The heuristic of a member of another family, whose options are `owner`.
std::unique_ptr<Heuristic> make_member(const Member& member, const Options& owner);

// Whether the family, or one of its members, cannot use qualitative features.
bool is_quantitative(const Family& family, const Options& options);

SearchOptions search_of(const Options& options);

}  // namespace oblique
