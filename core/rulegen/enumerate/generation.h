#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/rulegen/enumerate/term.h"

namespace regraft::rulegen {

struct GenerateOptions {
  std::vector<std::string> ops = {"taso"};  // op_table.h
  std::size_t depth = 3;                    // nodes of a graph, 1 to 5
  std::size_t threads = 2;
  /// Memory of the graphs that are found and of what is remembered between them, all threads together. Files
  /// of work that is done are mapped, and not counted.
  std::size_t memory_bytes = std::size_t{1} << 30;
  double seconds = 0;                  // stop after so long; 0: no limit
  std::function<double()> clock = {};  // in seconds; empty: the steady clock
  std::uint64_t seed = 1;
  std::size_t examples = 24;     // of each rule, on other shapes, on equal operands and on others each
  std::filesystem::path folder;  // of the work in progress: what is there already is not done again
};

/// A pair of equal graphs that does not follow from smaller or more general ones.
struct GeneratedRule {
  std::size_t depth = 0;           // nodes of the larger side, as the generator counts them
  TermRule terms;                  // left and right
  std::vector<std::string> lines;  // in the rule language: left to right, right to left, or both
};

struct Generation {
  std::vector<GeneratedRule> rules;
  std::size_t units = 0, units_done = 0, units_found = 0;  // found: done by an earlier run
  std::size_t graphs = 0, classes = 0, members = 0;
  std::size_t unsound = 0;    // pairs that hold on the generator's shapes and not on others
  std::size_t unwritten = 0;  // pairs that the rule language cannot say in either direction
  double enumerate_seconds = 0, prune_seconds = 0;
  std::string stopped;  // by which limit, and what to do; empty: by none

  bool complete() const { return stopped.empty(); }
  std::size_t line_count() const;
  /// A rules file.
  std::string rules_text() const;
};

}
