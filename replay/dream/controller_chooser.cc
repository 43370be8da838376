#include "replay/dream/controller_chooser.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/nn/latent_tracker.h"
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
    const std::uint32_t noop = controller_.config().xfers - 1, row = 0;
    std::vector<std::uint32_t> legal;
    for (std::uint32_t xfer = 0; xfer <= noop; ++xfer)
      if (tracker_.counts()[xfer] > 0) legal.push_back(xfer);
    controller_.read({&row, 1}, tracker_.state().data(), tracker_.state().size());
    nn::ControllerChoice choice = controller_.choose_xfer(row, legal, nn::ActionSelection::drawn, rng);
    if (choice.xfer != noop)
      controller_.choose_location(row, tracker_.counts()[choice.xfer], nn::ActionSelection::drawn, rng,
                                  choice);
    last_ = {tracker_.xfer_of(choice.xfer), choice.location};
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

}  // namespace regraft::replay
