// What a node holds, as the rule to stop takes it.
#pragma once

namespace oblique {

struct Held {
  double amount;   // in weight or in rows
  double misrate;  // share that is not of the largest class
};

}  // namespace oblique
