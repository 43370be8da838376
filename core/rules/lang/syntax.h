#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/rules/lang/diagnostics.h"
#include "core/rules/lang/rule_marks.h"

namespace regraft::rules {

struct AttrItem;

/// One expression of the rule language, for tensors, attributes and guards alike: what it is is decided by
/// compile_rule.h. args and attrs by form:
///   integer, real, text; name (text, member set, member); list, set (args)
///   call: text(args...); operation: text{attrs}(args...), or label:text{attrs}(args...) where `classes` may
///   hold several infix: text, args[0], args[1]; prefix: text, args[0]; parity: "odd" or "even", args[0] dim:
///   args[0] . args[1]; index: args[0] [ args[1] ]; slice: args[0] [ args[1] : args[2] ] (absent: form none)
///   conditional: args = condition, then, else; comprehension: [args[0] for text in args[1] if args[2]]
///   spread: args[0]... ; optional: args[0]?
struct Expr {
  enum class Form : std::uint8_t {
    none,
    integer,
    real,
    text,
    name,
    list,
    set,
    call,
    operation,
    infix,
    prefix,
    parity,
    dim,
    index,
    slice,
    conditional,
    comprehension,
    spread,
    optional
  };
  Form form = Form::none;
  Position at;
  std::string text;
  std::string label;                 // operation: the op variable it binds
  std::vector<std::string> classes;  // operation: names of ops or one class
  std::string member_set;
  bool member = false;
  bool copy_attrs = false;  // operation: '*' among the attributes
  std::int64_t integer = 0;
  double real = 0;
  std::vector<Expr> args;
  std::vector<AttrItem> attrs;
};

/// An attribute between braces: positional when `name` is empty.
struct AttrItem {
  std::string name;
  bool compare = false;  // '==': never binds
  Expr value;
  Position at;
};

/// A name on the left of '='.
struct Target {
  std::string name;
  std::string member_set;
  bool member = false;
  bool spread = false;
  Position at;
};

/// `targets = value`, or `value` alone: a guard or the one unnamed root.
struct Clause {
  std::vector<Target> targets;
  Expr value;
  Position at;
};

struct RuleText {
  std::string name;
  std::string family;
  bool together = false;  // with the others of its family
  std::string text;       // without its marks, white space normalised
  std::vector<RuleMark> marks;
  Position at;
  std::vector<Clause> left, right;
};

}
