#include "replay/dream/controller_chooser.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/nn/inference/latent_tracker.h"
#include "replay/dream/dream_validity.h"

namespace regraft::replay {
namespace {

class Follower {
 public:
  explicit Follower(const nn::WorldBundle& bundle)
      : tracker_(bundle.world), controller_(controller_of(bundle)) {}

  env::Action choose(const env::Environment& environment, Rng& rng) {
    if (environment.steps() == 0)
      tracker_.reset(environment.observation());
    else
      tracker_.advance(last_, environment.observation());
    const std::uint32_t noop = controller_.config().rules - 1, row = 0;
    std::vector<std::uint32_t> legal;
    for (std::uint32_t rule = 0; rule <= noop; ++rule)
      if (tracker_.counts()[rule] > 0) legal.push_back(rule);
    controller_.read({&row, 1}, tracker_.state().data(), tracker_.state().size());
    nn::ControllerChoice choice = controller_.choose_rule(row, legal, nn::ActionSelection::drawn, rng);
    if (choice.rule != noop)
      controller_.choose_location(row, tracker_.counts()[choice.rule], nn::ActionSelection::drawn, rng,
                                  choice);
    last_ = {tracker_.rule_of(choice.rule), choice.location};
    return last_;
  }

 private:
  nn::LatentTracker tracker_;
  nn::Controller controller_;
  env::Action last_;
};

}  // namespace

Chooser controller_chooser(const nn::WorldBundle& bundle, double share, Chooser other) {
  auto follower = std::make_shared<Follower>(bundle);
  return [follower, share, other = std::move(other), follows = true](env::Environment& environment,
                                                                     Rng& rng) mutable {
    if (environment.steps() == 0) follows = rng.uniform() < share;
    return follows ? follower->choose(environment, rng) : other(environment, rng);
  };
}

}
