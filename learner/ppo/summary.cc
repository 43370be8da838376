#include <nlohmann/json.hpp>
#include <sstream>

#include "learner/ppo/learner.h"

namespace regraft::learner {

std::string LearnerSummary::to_json(const std::vector<std::string>& model_names) const {
  nlohmann::json json{{"updates", updates},
                      {"episodes", episodes},
                      {"steps", steps},
                      {"played_steps", played_steps},
                      {"seconds", seconds},
                      {"mean_return", mean_return},
                      {"trained_twice", trained_twice},
                      {"expired", expired},
                      {"policy_steps_per_second", policy_steps_per_s},
                      {"samples_per_second", samples_per_s},
                      {"payload_bytes_per_second", payload_bytes_per_s},
                      {"transport_cpu_share", transport_cpu_share},
                      {"ratio_error_lag0_max", lag0.ratio_error},
                      {"lag0_steps", lag0.steps},
                      {"books_balance", books.check().empty()}};
  for (std::size_t i = 0; i < best_cost_ratio.size(); ++i)
    json["best_cost_ratio"][model_names[i]] = best_cost_ratio[i];
  return json.dump(2) + "\n";
}

std::string LearnerSummary::text(const std::vector<std::string>& model_names) const {
  std::ostringstream out;
  out.precision(4);
  out << "trained " << updates << " updates on " << episodes << " episodes (" << steps << " steps) in "
      << seconds << " s; mean return of the last 100 episodes " << mean_return << "\n";
  for (std::size_t i = 0; i < best_cost_ratio.size(); ++i)
    out << "  " << model_names[i] << ": best cost found " << best_cost_ratio[i] << " of the initial one\n";
  out << "rates: " << policy_steps_per_s << " policy steps/s, " << samples_per_s << " learner samples/s, "
      << payload_bytes_per_s / 1e3 << " kB/s; transport takes " << 100 * transport_cpu_share
      << " % of the CPU time\n"
      << "checks: largest |pi/mu - 1| at lag 0 " << lag0.ratio_error << "; trajectories trained twice "
      << trained_twice << "; too old when their turn came " << expired << "\n"
      << books.table();
  return out.str();
}

}  // namespace regraft::learner
