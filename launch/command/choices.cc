#include "launch/command/choices.h"

#include <filesystem>
#include <ranges>

#include "core/base/text.h"

namespace regraft::launch {
namespace {

constexpr std::string_view kIntroduction = "one of ", kSeparator = ", ";

}  // namespace

Check one_of(std::vector<std::string> choices, std::map<std::string, std::string> former) {
  const std::string help = std::string(kIntroduction) + join(choices, kSeparator);
  return {[choices = std::move(choices), former = std::move(former)](const std::string& value) {
            for (const std::string& choice : choices)
              if (value == choice) return std::string();
            if (const auto now = former.find(value); now != former.end())
              return "'" + value + "' is called '" + now->second + "' now";
            return "'" + value + "' is not known (" + suggestion(value, choices) + ")";
          },
          help};
}

Check known_runtime(std::vector<std::string> names) {
  Check check = one_of(std::move(names));
  check.fault = [by_name = check.fault](std::string& value) {
    if (!value.ends_with(".py")) return by_name(value);
    return std::filesystem::exists(value) ? std::string() : "there is no file '" + value + "'";
  };
  return check;
}

Check known_runtimes(std::vector<std::string> names) {
  Check check = known_runtime(std::move(names));
  check.fault = [of_one = check.fault](std::string& value) {
    if (value.find(',') == std::string::npos) return of_one(value);
    for (const auto part : std::views::split(value, ',')) {
      std::string one(part.begin(), part.end());
      if (one == "auto") return std::string("'auto' stands alone");
      if (std::string fault = of_one(one); !fault.empty()) return fault;
    }
    return std::string();
  };
  return check;
}

std::vector<std::string> choices_of(const std::string& type) {  // "TEXT:one of a, b, c"
  std::size_t begin = type.find(":" + std::string(kIntroduction));
  if (begin == std::string::npos) return {};
  std::vector<std::string> choices;
  for (begin += 1 + kIntroduction.size(); begin < type.size();) {
    const std::size_t end = std::min(type.find(kSeparator, begin), type.size());
    choices.push_back(type.substr(begin, end - begin));
    begin = end + kSeparator.size();
  }
  return choices;
}

}
