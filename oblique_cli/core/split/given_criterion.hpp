// Criteria that are given at run time, by name, as functions of the class weights on both sides of cuts.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace oblique {

struct Totals;

// The functions are called by any thread, must depend on nothing but their arguments, and may throw.
struct GivenCriterion {
  // out[i] = V of cut i; left, right : (m, n_classes) weights of the classes on either side, row by row
  std::function<void(const std::vector<double>& left, const std::vector<double>& right, std::size_t m, double* out)>
      values;
  // The published score of a cut of value v, linear in v; empty: the value itself.
  std::function<double(double v, const Totals& t)> gain;
};

// Lets all engines know a criterion. Throws std::invalid_argument if its name is taken.
void give_criterion(const std::string& name, GivenCriterion criterion);
// The criterion of a name, which stays where it is, or nullptr; and the names of all.
const GivenCriterion* given_criterion(const std::string& name);
std::vector<std::string> given_criteria();

}  // namespace oblique
