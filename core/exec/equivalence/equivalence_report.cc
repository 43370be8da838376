#include "core/exec/equivalence/equivalence_report.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {

namespace {

/// JSON has no infinity.
double finite(double value) {
  return std::min(value, std::numeric_limits<double>::max());
}

}  // namespace

nlohmann::json to_json(const EquivalenceReport& report) {
  nlohmann::json outputs = nlohmann::json::array();
  for (const OutputReport& output : report.outputs) {
    outputs.push_back({{"name", output.name},
                       {"relative_error", finite(output.relative_error)},
                       {"spread", output.spread},
                       {"tolerance", output.tolerance},
                       {"agrees", output.agrees},
                       {"problem", output.problem}});
  }
  return {{"equivalent", report.equivalent},
          {"reason", report.reason},
          {"max_relative_error", finite(report.max_relative_error)},
          {"worst_output", report.worst_output},
          {"first_difference", report.first_difference},
          {"outputs", outputs},
          {"bindings", report.bindings},
          {"extremes", report.extremes},
          {"notes", report.notes},
          {"repeatable", report.repeatable}};
}

EquivalenceReport equivalence_from_json(const nlohmann::json& json) {
  EquivalenceReport report;
  try {
    report.equivalent = json.at("equivalent");
    report.reason = json.at("reason");
    report.max_relative_error = json.at("max_relative_error");
    report.worst_output = json.at("worst_output");
    report.first_difference = json.at("first_difference");
    report.bindings = json.at("bindings");
    report.extremes = json.at("extremes");
    report.notes = json.at("notes");
    report.repeatable = json.at("repeatable");
    for (const auto& output : json.at("outputs")) {
      report.outputs.push_back({output.at("name"), output.at("relative_error"), output.at("spread"),
                                output.at("tolerance"), output.at("agrees"), output.at("problem")});
    }
  } catch (const nlohmann::json::exception& error) {
    throw ExecError(std::string("not an equivalence report: ") + error.what(), "equivalence", "");
  }
  return report;
}

}
