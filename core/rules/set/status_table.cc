#include "core/rules/set/status_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/sha256.h"
#include "core/rules/lang/diagnostics.h"

namespace regraft::rules {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"proved", "bounded_checked", "tested"};
constexpr std::size_t kHashDigits = 16;
constexpr std::string_view kOnly = "-only";

// Nothing: no such status.
bool read_status(const std::string& word, StatusLine& line) {
  const std::size_t colon = word.find(':');
  const auto known =
      word == kFormerBounded ? RuleStatus::bounded_checked : status_from_name(word.substr(0, colon));
  if (!known) return false;
  line.status = *known;
  if (colon == std::string::npos) return true;
  std::string digits = word.substr(colon + 1);
  line.only = digits.ends_with(kOnly);
  if (line.only) digits.resize(digits.size() - kOnly.size());
  if (*known != RuleStatus::proved || digits.size() != 1 || digits[0] < '3' || digits[0] > '9') return false;
  line.ranks = static_cast<std::size_t>(digits[0] - '0');
  return true;
}

// "v3"; nothing: no such word, which lines of the first checker do not have.
std::optional<std::uint32_t> read_checker(std::string_view word) {
  std::uint32_t number = 0;
  if (word.size() < 2 || word[0] != 'v') return std::nullopt;
  const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || number == 0) return std::nullopt;
  return number;
}

bool read_hash(std::string& text) {
  if (text.size() == 2 * kHashDigits || text.size() == 4 * kHashDigits) text.resize(kHashDigits);
  return text.size() == kHashDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

StatusLine parse(const std::string& text, std::string_view file, std::uint32_t number) {
  std::istringstream words(text);
  StatusLine line;
  std::string status;
  words >> line.rule >> status >> line.text_hash >> line.proof_hash;
  std::getline(words >> std::ws, line.note);
  const std::size_t space = std::min(line.note.find(' '), line.note.size());
  const auto checker = read_checker(std::string_view(line.note).substr(0, space));
  line.checker = checker.value_or(1);
  if (checker) line.note.erase(0, std::min(space + 1, line.note.size()));
  const auto column = [&](const std::string& word) {
    return Position{number, static_cast<std::uint32_t>(text.find(word) + 1)};
  };
  const std::string remedy = "remove the line, and run 'regraft rules verify --write' for its rule";
  if (line.proof_hash.empty())
    fail(file, {number, 1}, "a line is 'rule status text-hash proof-hash checker note'", remedy);
  if (!read_status(status, line))
    fail(file, column(status), "unknown status '" + status + "'",
         "one of proved:3 (for tensors of up to 3 dims; to 9), proved:3-only, bounded_checked, tested");
  if (!read_hash(line.text_hash)) fail(file, column(line.text_hash), "no SHA-256: " + line.text_hash, remedy);
  if (line.proof_hash != "-" && !read_hash(line.proof_hash))
    fail(file, column(line.proof_hash), "no SHA-256: " + line.proof_hash, remedy);
  return line;
}

}  // namespace

std::string status_word(RuleStatus status, std::size_t ranks, bool only) {
  const std::string name(status_name(status));
  if (status != RuleStatus::proved) return name;
  return name + ":" + std::to_string(ranks) + std::string(only ? kOnly : "");
}

std::string status_hash(std::string_view text) {
  return sha256_hex(text).substr(0, kHashDigits);
}

std::string_view status_name(RuleStatus status) {
  return kNames[static_cast<std::size_t>(status)];
}

std::optional<RuleStatus> status_from_name(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<RuleStatus>(found - kNames.begin());
}

StatusTable StatusTable::load(const std::filesystem::path& rule_file) {
  StatusTable table;
  table.proofs_ = ProofArchive::load(rule_file);
  const std::filesystem::path path = path_of(rule_file);
  if (!std::filesystem::exists(path)) return table;
  std::ifstream in(path, std::ios::binary);
  if (!std::filesystem::is_regular_file(path) || !in)
    throw RuleError("the statuses of rules are no readable file", path.string(),
                    "move it away, and run 'regraft rules verify --write'");
  std::uint32_t number = 0;
  std::map<std::string, std::uint32_t> lines;  // of rules
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    StatusLine read = parse(line, path.string(), number);
    const auto [first, fresh] = lines.emplace(read.rule, number);
    if (!fresh)
      fail(path.string(), {number, 1},
           "a second status of rule '" + read.rule + "', whose first is in line " +
               std::to_string(first->second),
           "remove line " + std::to_string(first->second) + " or " + std::to_string(number) +
               ", and run 'regraft rules verify --write " + read.rule + "'");
    table.set(std::move(read));
  }
  return table;
}

RuleStatus StatusTable::of(const RuleInfo& rule) const {
  const StatusLine* line = find(rule.name);
  if (!line || line->text_hash != hash_of(rule)) return RuleStatus::tested;
  if (line->status != RuleStatus::proved) return line->status;
  const std::string* proof = proofs_.find(rule.name);
  return proof && status_hash(*proof) == line->proof_hash ? RuleStatus::proved : RuleStatus::tested;
}

std::size_t StatusTable::proved_ranks(const RuleInfo& rule) const {
  const StatusLine* line = find(rule.name);
  return line ? line->ranks : 0;
}

bool StatusTable::proved_ranks_only(const RuleInfo& rule) const {
  const StatusLine* line = find(rule.name);
  return line && line->only && line->text_hash == hash_of(rule);  // whatever became of its proof
}

const StatusLine* StatusTable::find(std::string_view rule) const {
  const auto found = lines_.find(rule);
  return found == lines_.end() ? nullptr : &found->second;
}

bool StatusTable::found_by_older(const RuleInfo& rule) const {
  const StatusLine* line = find(rule.name);
  return line && line->checker < kChecker && line->text_hash == hash_of(rule);
}

bool StatusTable::found_by_newer(const RuleInfo& rule) const {
  const StatusLine* line = find(rule.name);
  return line && line->checker > kChecker && line->text_hash == hash_of(rule);
}

void StatusTable::set(StatusLine line) {
  std::string name = line.rule;
  lines_.insert_or_assign(std::move(name), std::move(line));
}

void StatusTable::keep_only(const std::set<std::string, std::less<>>& rules) {
  std::erase_if(lines_, [&](const auto& line) { return !rules.contains(line.first); });
  std::set<std::string, std::less<>> with_proof;
  for (const auto& [name, line] : lines_)
    if (line.proof_hash != "-") with_proof.insert(name);
  proofs_.keep_only(with_proof);
}

std::string StatusTable::text() const {
  std::string out =
      "# What is known of each rule, written by 'regraft rules verify --write': rule, status, hash of its "
      "name and\n# text, hash of its proof (16 digits of SHA-256), by which checker, note: matches in "
      "examples. " +
      std::to_string(kUsualRandomMatches) + " random matches, if not said.\n";
  for (const auto& [name, line] : lines_) {
    out += name + ' ' + status_word(line.status, line.ranks, line.only) + ' ' + line.text_hash + ' ' +
           line.proof_hash + " v" + std::to_string(line.checker);
    if (!line.note.empty()) out += ' ' + line.note;
    out += '\n';
  }
  return out;
}

void StatusTable::save(const std::filesystem::path& rule_file) const {
  proofs_.save(rule_file);
  write_file_atomic(path_of(rule_file), text());
}

std::filesystem::path StatusTable::path_of(const std::filesystem::path& rule_file) {
  std::filesystem::path path = rule_file;
  return path.extension() == ".rules" ? path.replace_extension(".status") : path += ".status";
}

std::string StatusTable::hash_of(const RuleInfo& rule) {
  return status_hash(rule.name + "\n" + rule.text);
}

const StatusTable& StatusTables::of(const RuleInfo& rule) {
  const auto found = by_file_.find(rule.file);
  if (found != by_file_.end()) return found->second;
  return by_file_.emplace(rule.file, StatusTable::load(rule.file)).first->second;
}

}
