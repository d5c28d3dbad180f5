// A union of heuristics: the candidates of all members in order; the search takes the best candidate.

#include "heuristic/heuristic.hpp"

namespace oblique {
namespace {

class Union final : public Proposer {
 public:
  explicit Union(const Options& options) {
    for (const Member& member : options.members("members")) members_.push_back(make_member(member, options));
  }

  void propose(const Node& node, Candidates& candidates) override {
    for (const std::unique_ptr<Heuristic>& member : members_) {
      // A separate list, because a member may read its earlier proposals.
      Candidates member_candidates;
      member->propose(node, member_candidates);
      candidates.append(std::move(member_candidates));
    }
  }
  bool reads_stretches() const override {
    return std::all_of(members_.begin(), members_.end(), [](const auto& member) { return member->reads_stretches(); });
  }

 private:
  std::vector<std::unique_ptr<Heuristic>> members_;
};

const Registered family("union", {members("members")}, make<Union>);

}  // namespace
}  // namespace oblique
