#include "learner/controller/dream_summary.h"

#include <nlohmann/json.hpp>
#include <sstream>

namespace regraft::learner {

std::string DreamPhaseSummary::to_json() const {
  nlohmann::json json{{"finished", finished},
                      {"updates", updates},
                      {"dreamed_episodes", dreamed_episodes},
                      {"real_episodes", real_episodes},
                      {"dreamed_steps", dreamed_steps},
                      {"real_steps", real_steps},
                      {"seconds", seconds},
                      {"first_dreamed_return", first_dreamed_return},
                      {"dreamed_return", dreamed_return},
                      {"real_return", real_return},
                      {"steps_per_second", steps_per_s},
                      {"ratio_error_lag0_max", lag0.ratio_error},
                      {"lag0_steps", lag0.steps},
                      {"refused_bundles", refused_bundles},
                      {"books_balance", books.check().empty()}};
  if (paused_updates) json["dyna"] = {{"paused_updates", *paused_updates}, {"branch_steps", branch_steps}};
  return json.dump(2) + "\n";
}

std::string DreamPhaseSummary::text() const {
  std::ostringstream out;
  out.precision(4);
  out << (finished ? "trained " : "stopped after ") << updates << " updates in " << seconds << " s ("
      << steps_per_s << " steps/s)\n"
      << "  dreamed: " << dreamed_episodes << " episodes, " << dreamed_steps << " steps; return "
      << first_dreamed_return << " at first, " << dreamed_return << " at last\n"
      << "  real:    " << real_episodes << " episodes, " << real_steps << " steps; return " << real_return
      << " at last\n"
      << (paused_updates ? "  dyna:    dreams of " + std::to_string(branch_steps) +
                               " steps at last; paused in " + std::to_string(*paused_updates) + " updates\n"
                         : "")
      << "checks: largest |pi/mu - 1| at lag 0 " << lag0.ratio_error << "; bundles of mixed versions refused "
      << refused_bundles << "\n"
      << books.table();
  return out.str();
}

}  // namespace regraft::learner
