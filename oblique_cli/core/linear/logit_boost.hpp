// LogitBoost with simple linear regressions (Friedman, Hastie & Tibshirani 2000; Landwehr, Hall & Frank 2005, section
// 3). For every class, a step fits the regression on the single feature with the least sum of squares to the working
// response, and adds it to the scores. A few steps select features; many steps converge to maximum likelihood.
#pragma once

#include <cstddef>
#include <vector>

#include "linear/softmax.hpp"

namespace oblique {

class LogitBoost {
 public:
  // Adds one step to scores (C, n), which include the offset, and to the linear functions `w`, which do not. If no
  // feature varies, the step is the mean of the response. False if there is nothing to add.
  bool step(const ClassRows& rows, std::vector<double>& scores, Scores& w);

 private:
  std::vector<double> response_, weight_, weighted_, scaled_, change_, probability_;
};

}  // namespace oblique
