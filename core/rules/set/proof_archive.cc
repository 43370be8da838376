#include "core/rules/set/proof_archive.h"

#include <algorithm>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/xz.h"
#include "core/rules/lang/rule_error.h"

namespace regraft::rules {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 28;

}  // namespace

std::filesystem::path ProofArchive::path_of(const std::filesystem::path& rule_file) {
  std::filesystem::path path = rule_file;
  if (path.extension() == ".rules") path.replace_extension();
  return path += ".proofs.tar.xz";
}

std::string ProofArchive::member_of(std::string_view rule) {
  std::string name(rule);
  std::replace(name.begin(), name.end(), '/', '.');
  return name + ".smt2";
}

ProofArchive ProofArchive::load(const std::filesystem::path& rule_file) {
  ProofArchive archive;
  const std::filesystem::path path = path_of(rule_file);
  if (!std::filesystem::exists(path)) return archive;
  const auto unpacked = unxz(read_file(path), kMostBytes);
  auto proofs = unpacked ? untar(*unpacked) : std::nullopt;
  if (!proofs)
    throw RuleError("the archive of proofs is truncated or damaged", path.string(),
                    "put the one back that came with the rules, or remove it and run 'regraft rules verify "
                    "--write'");
  archive.proofs_ = std::move(*proofs);
  return archive;
}

void ProofArchive::save(const std::filesystem::path& rule_file) const {
  const std::filesystem::path path = path_of(rule_file);
  if (proofs_.empty()) {
    std::filesystem::remove(path);
  } else {
    write_file_atomic(path, xz(tar(proofs_)));
  }
}

const std::string* ProofArchive::find(std::string_view rule) const {
  const auto found = proofs_.find(member_of(rule));
  return found == proofs_.end() ? nullptr : &found->second;
}

void ProofArchive::keep_only(const std::set<std::string, std::less<>>& rules) {
  std::set<std::string> members;
  for (const std::string& rule : rules) members.insert(member_of(rule));
  std::erase_if(proofs_, [&](const auto& proof) { return !members.contains(proof.first); });
}

void ProofArchive::set(std::string_view rule, std::string proof) {
  if (proof.empty()) {
    proofs_.erase(member_of(rule));
  } else {
    proofs_.insert_or_assign(member_of(rule), std::move(proof));
  }
}

}
