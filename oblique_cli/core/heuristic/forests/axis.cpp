// Random forests: axis-parallel cuts, searched by ranks.
#include "heuristic/forest_split.hpp"

namespace oblique {
namespace {

const RegisteredSplit axis("axis", {}, nullptr);

}  // namespace
}  // namespace oblique
