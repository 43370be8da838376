#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace regraft::wire {

/// What results needed lately, by the kind of their actors and by their models: from it follows how much
/// memory to reserve for those that are under way.
class ResultSizes {
 public:
  /// `most`: no result may need more.
  explicit ResultSizes(std::uint64_t most) : most_(most) {}

  void add(const std::string& kind, std::uint32_t model, std::uint64_t bytes);
  /// The largest of the last ones of this model, and a quarter more; expected(kind) where too few are known.
  std::uint64_t expected(const std::string& kind, std::uint32_t model) const;
  /// The largest expected of any model, or of the last ones of all; the most where too few are known.
  std::uint64_t expected(const std::string& kind) const;

 private:
  struct Last {
    std::deque<std::uint64_t> bytes;
    std::uint64_t reserved = 0;  // for the next one
    void add(std::uint64_t more);
  };
  std::uint64_t reserve(const Last& last) const;

  std::uint64_t most_;
  std::map<std::string, Last> of_kinds_;
  std::map<std::pair<std::string, std::uint32_t>, Last> of_models_;
};

}
