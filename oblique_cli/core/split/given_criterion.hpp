// Criteria that are registered at run time under a name, as functions of the class weights on both sides of cuts.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace oblique {

struct Totals;

// Any thread may call the functions; they must depend on their arguments alone, and may throw.
struct GivenCriterion {
  // out[i] = V of cut i; left, right : (m, n_classes) weights of the classes on either side, row by row
  std::function<void(const std::vector<double>& left, const std::vector<double>& right, std::size_t m, double* out)>
      values;
  // The published score of a cut of value v, linear in v; empty: the value itself.
  std::function<double(double v, const Totals& t)> gain;
};

// Registers a criterion for all engines. Throws std::invalid_argument if its name is in use.
void give_criterion(const std::string& name, GivenCriterion criterion);
// The criterion of a name, at a permanent address, or nullptr; and the names of all.
const GivenCriterion* given_criterion(const std::string& name);
std::vector<std::string> given_criteria();

}  // namespace oblique
