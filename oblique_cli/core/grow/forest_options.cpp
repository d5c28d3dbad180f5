#include "grow/forest_options.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace oblique {

namespace {

const std::vector<Option>& shared_options() {
  static const std::vector<Option> all{choice("split", {"axis", "mpsvm", "hhcart", "family", "heterogeneous"}),
                                       integer("mtry"),
                                       number("minleaf"),
                                       integer("max_depth"),
                                       flag("bootstrap"),
                                       integer("max_samples"),
                                       integer("tree_features"),
                                       flag("node_bootstrap"),
                                       integer("group_size"),
                                       choice("scaling", {"range", "deviation", "none"})};
  return all;
}

std::vector<Option> options_of_split(const std::string& split) {
  if (split == "mpsvm") return {choice("regularization", {"tikhonov", "axis", "null"}), number("delta")};
  if (split == "hhcart") return {integer("reflections"), flag("dominant_only"), number("tau")};
  if (split == "heterogeneous")
    return {flag("mpsvm"),    flag("lda"),           flag("ridge"),  flag("svm"),
            flag("logistic"), integer("partitions"), number("delta")};
  return {};
}

Scaling scaling_of(const std::string& name) {
  return name == "range" ? Scaling::range : name == "deviation" ? Scaling::deviation : Scaling::none;
}

Regularization regularization_of(const std::string& name) {
  if (name == "tikhonov") return Regularization::tikhonov;
  return name == "axis" ? Regularization::axis : Regularization::null_space;
}

}  // namespace

ForestOptions forest_options(std::map<std::string, OptionValue> given, std::vector<FamilyChoice> families) {
  const auto found = given.find("split");
  const std::string* split = found == given.end() ? nullptr : std::get_if<std::string>(&found->second);
  std::vector<Option> declared = shared_options();
  for (Option& option : options_of_split(split ? *split : "")) declared.push_back(std::move(option));
  const Options options(split ? "forest '" + *split + "'" : "a forest", declared, std::move(given));
  ForestOptions out;
  out.mtry = options.count("mtry");
  out.minleaf = options.number("minleaf");
  out.max_depth = options.integer("max_depth");
  out.rows = {options.flag("bootstrap"), options.count("max_samples")};
  out.tree_features = options.count("tree_features");
  out.node_bootstrap = options.flag("node_bootstrap");
  out.group_size = options.count("group_size");
  out.scaling = scaling_of(options.choice("scaling"));
  if (*split == "mpsvm") {
    out.split = ForestSplit::mpsvm;
    out.regularization = regularization_of(options.choice("regularization"));
    out.delta = options.number("delta");
  } else if (*split == "hhcart") {
    out.split = ForestSplit::hhcart;
    out.reflections = options.count("reflections");
    out.dominant_only = options.flag("dominant_only");
    out.tau = options.number("tau");
  } else if (*split == "heterogeneous") {
    out.split = ForestSplit::heterogeneous;
    out.delta = options.number("delta");
    out.heterogeneous = {options.flag("mpsvm"), options.flag("lda"),      options.flag("ridge"),
                         options.flag("svm"),   options.flag("logistic"), options.count("partitions")};
  } else if (*split == "family") {
    out.split = ForestSplit::family;
    if (families.empty()) throw std::invalid_argument("a forest with split 'family' needs a family");
    out.families = std::move(families);
  }
  return out;
}

}  // namespace oblique
