#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/rules/graph_builder.h"
#include "core/rules/interpreter.h"
#include "core/rules/lang/rule_error.h"
#include "core/rules/rewrite/cleanup.h"
#include "core/rules/rewrite/script.h"
#include "core/rules/shipped.h"
#include "support/validate.h"

namespace regraft::rules::testing {

/// The script applies to the graph, line by line, and keeps its values.
inline void expect_leads(GraphBuilder& b, const std::string& script, const RuleSet& rules) {
  clean_up(b.graph());
  graph::Graph graph = b.graph();
  try {
    run_script(Script::parse(script, "script"), graph, rules);
  } catch (const RuleError& error) {
    FAIL() << error.what();
  }
  graph::validate(graph);
  Rng rng(5, "inputs");
  const auto inputs = random_inputs(b.graph(), rng);
  const auto wanted = Interpreter(b.graph()).run(inputs), found = Interpreter(graph).run(inputs);
  ASSERT_EQ(wanted.size(), found.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_LT(relative_difference(wanted[i], found[i]), 1e-5) << script;
}

/// The same by the rules of configs/rules.
inline void expect_shipped_rules_lead(GraphBuilder& b, const std::string& script) {
  expect_leads(b, script, shipped());
}

}
