// LogitBoost with simple linear regressions (Friedman, Hastie & Tibshirani 2000; Landwehr, Hall & Frank 2005, section
// 3): a step fits to the working response of every class the regression on the one feature that leaves least squares,
// and adds it to the scores. A few steps choose features; many come to the maximum likelihood.
#pragma once

#include <cstddef>
#include <vector>

#include "linear/softmax.hpp"

namespace oblique {

class LogitBoost {
 public:
  // Adds one step to scores (C, n), which hold the offset too, and to the linear functions `w` beside the offset.
  // Where no feature varies that is the mean of the response. False if nothing is to be added.
  bool step(const ClassRows& rows, std::vector<double>& scores, Scores& w);

 private:
  std::vector<double> response_, weight_, weighted_, scaled_, change_, probability_;
};

}  // namespace oblique
