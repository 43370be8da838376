#include "core/rulegen/taso/taso_import.h"

#include <algorithm>

namespace regraft::rulegen {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", then ") + name;
  return out;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string comment_of(const TasoOutcome& outcome) {
  std::string out = "# " + std::to_string(outcome.number) + ": " + to_string(outcome.status);
  if (!outcome.reason.empty()) out += ": " + outcome.reason;
  if (!outcome.counterexample.empty()) out += "\n#   unsound as TASO has it: " + outcome.counterexample;
  if (!outcome.known.empty()) {
    out += "\n#   known as " + joined(outcome.known);
    if (outcome.known_for_constants) out += ", for constant weights";
  }
  return out + "\n";
}

}  // namespace

const char* to_string(TasoOutcome::Status status) {
  switch (status) {
    case TasoOutcome::Status::imported:
      return "imported";
    case TasoOutcome::Status::guarded:
      return "guarded";
    case TasoOutcome::Status::refused:
      break;
  }
  return "refused";
}

std::size_t TasoImport::count(TasoOutcome::Status status) const {
  return static_cast<std::size_t>(std::count_if(outcomes.begin(), outcomes.end(),
                                                [&](const TasoOutcome& o) { return o.status == status; }));
}

std::size_t TasoImport::unsound() const {
  return static_cast<std::size_t>(std::count_if(
      outcomes.begin(), outcomes.end(), [](const TasoOutcome& o) { return !o.counterexample.empty(); }));
}

std::size_t TasoImport::known() const {
  return static_cast<std::size_t>(
      std::count_if(outcomes.begin(), outcomes.end(), [](const TasoOutcome& o) { return !o.known.empty(); }));
}

std::vector<std::size_t> TasoImport::sound_but_unknown() const {
  std::vector<std::size_t> out;
  for (const TasoOutcome& o : outcomes) {
    if (o.status != TasoOutcome::Status::refused && o.known.empty()) out.push_back(o.number);
  }
  return out;
}

std::string TasoImport::rules_text(const std::string& source) const {
  std::string out = "# Imported from " + source + " by regraft rules import.\n\n[taso]\n";
  for (const TasoOutcome& outcome : outcomes) {
    out += comment_of(outcome);
    if (!outcome.text.empty()) out += outcome.text + "\n";
  }
  return out;
}

std::string TasoImport::json() const {
  std::string out = "{\"rules\": " + std::to_string(outcomes.size());
  for (const auto status :
       {TasoOutcome::Status::imported, TasoOutcome::Status::guarded, TasoOutcome::Status::refused})
    out += ", \"" + std::string(to_string(status)) + "\": " + std::to_string(count(status));
  out += ", \"unsound_as_written\": " + std::to_string(unsound()) +
         ", \"known\": " + std::to_string(known()) + ",\n \"outcomes\": [";
  for (const TasoOutcome& o : outcomes) {
    out += (o.number == 0 ? "\n  " : ",\n  ");
    out += "{\"number\": " + std::to_string(o.number) + ", \"status\": " + quoted(to_string(o.status)) +
           ", \"rule\": " + quoted(o.text) + ", \"reason\": " + quoted(o.reason) +
           ", \"counterexample\": " + quoted(o.counterexample) +
           ", \"examples\": " + std::to_string(o.examples) + ", \"known\": " + quoted(joined(o.known)) + "}";
  }
  return out + "]}\n";
}

}
