#pragma once

// Internal to core/rules and core/cost: a rule after its checks, with names turned into slots.

#include <bitset>
#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/op.h"
#include "core/rules/compile/quantity.h"
#include "core/rules/lang/diagnostics.h"

namespace regraft::rules {

/// A variable: its place among those of its sort, in the plain frame (member set -1) or in each member's
/// frame of a set.
struct Slot {
  std::int16_t member_set = -1;
  std::uint16_t index = 0;

  auto operator<=>(const Slot&) const = default;
};

enum class Function : std::uint8_t {
  // of tensors
  rank,
  dims,
  size,
  dtype,
  is_const,
  scalar,
  value,
  uses,
  output,
  present,
  floating,
  type,
  ints,
  // of quantities
  len,
  sum,
  prod,
  max,
  min,
  reverse,
  range,
  invert,
  permute,
  remove,
  insert,
  set,
  position,
  permutation
};

/// A compiled attribute expression.
struct Code {
  enum class Form : std::uint8_t {
    literal,
    variable,
    list,
    call,
    arithmetic,
    join,
    compare,
    conjunction,
    disjunction,
    negation,
    minus,
    member_of,
    odd,
    even,
    dim,
    index,
    slice,
    conditional,
    comprehension,
    spread,
    member_index,
    member_count
  };
  Form form = Form::literal;
  Function function{};
  Slot slot;                     // variable; comprehension: its variable
  std::int16_t member_set = -1;  // spread, member_index, member_count: the set
  std::string symbol;            // arithmetic, compare: the operator
  Quantity literal;
  std::vector<Code> args;
  std::vector<Slot> tensors;  // call, dim: tensor arguments
  Position at;

  static Code make(Form form, Position at, std::vector<Code> args = {}, std::string symbol = {});
  static Code of(Quantity literal, Position at);
  static Code of(Slot variable, Position at);
};

/// A guard, or with a target a let-binding, evaluated for each member when `member_set` >= 0.
struct Check {
  Code code;
  std::optional<Slot> target;
  std::int16_t member_set = -1;
};

using KindSet = std::bitset<graph::kOpKinds>;

struct OperandPattern {
  Slot slot;
  bool sequence = false;  // stands for zero or more operands: one for each member of slot.member_set
  bool optional = false;
};

/// One operation of the left side.
struct PatternNode {
  KindSet kinds;
  std::optional<Slot> op;                                          // its op variable
  std::vector<std::pair<graph::Attr, Slot>> attrs;                 // bound, or equal to what is bound
  std::vector<std::pair<graph::Attr, graph::AttrValue>> required;  // not mentioned: the default
  std::vector<graph::Attr> absent;                                 // not mentioned and without default
  std::vector<OperandPattern> operands;
  std::vector<OperandPattern> outputs;  // slots of its outputs
  bool commutative = false;             // two operands, either order
  bool floats = false;                  // only of floating elements (op_domain.h)
  std::int16_t member_set = -1;         // one node for each member
  std::uint16_t index = 0;              // its place in the frame's nodes
  Position at;
};

/// How matching reaches a node, in order; the first step is the anchor.
struct Step {
  enum class Via : std::uint8_t { anchor, producer, consumer };
  std::uint16_t node = 0;  // in CompiledRule::nodes
  Via via = Via::anchor;
  Slot from;                  // the bound value that it produces or consumes
  std::vector<Check> checks;  // all that is determined once this step is done
};

struct RightOperand {
  std::optional<Slot> slot;
  bool spread = false;  // over slot.member_set
  bool absent = false;  // without slot: `none`, an optional operand that is left out
  Code number;          // without slot: a scalar constant of the dtype of the other operands
};

/// One instruction of the right side. Its outputs go to new slots.
struct RightStep {
  enum class Form : std::uint8_t { operation, first_present, integers, integer, full, values, let };
  Form form = Form::operation;
  std::int16_t member_set = -1;  // done once for each member
  graph::OpKind kind = graph::OpKind::opaque;
  std::optional<Slot> op;  // kind and attributes of what the op variable matched
  std::vector<std::pair<graph::Attr, Code>> attrs;
  std::vector<RightOperand> operands;
  std::vector<Slot> outputs;
  bool sequence_output = false;  // outputs[0] stands for one output for each member of its member set
  std::optional<Slot> target;    // let
  std::vector<Code> codes;  // let, integers, integer: the value; full: dims, value; values: elements, dims
  Position at;
};

/// A left value and what replaces it; with a member set, for each member.
struct Replacement {
  Slot before, after;
};

/// The members of a set are either a sequence of operands or outputs of one node (sequence), or siblings: all
/// nodes of the graph that match the member pattern with equal plain variables.
struct MemberSet {
  std::string name;
  bool siblings = false;
};

struct FrameSize {
  std::uint16_t tensors = 0, quantities = 0, ops = 0, nodes = 0;
};

inline constexpr std::size_t kAnyRank = 255;

struct CompiledRule {
  std::string file;  // that it was read from
  std::vector<PatternNode> nodes;
  std::vector<Step> steps;  // of siblings: the pattern of one member and what hangs on it
  std::vector<MemberSet> member_sets;
  std::vector<FrameSize> frames;  // [0] plain, [1 + d] members of member set d
  std::int16_t sibling_member_set = -1;
  bool members_share_activation = false;  // siblings: some shared value must not be constant
  std::vector<Slot> shared;               // siblings: plain leaf or interior values that reach every member
  std::vector<Code> same;                 // siblings: equal for all members
  std::vector<Code> order;                // siblings: members stand in ascending order of these
  std::vector<Check> set_checks;          // siblings: once the set is known
  std::vector<RightStep> right;
  std::vector<Replacement> replacements;
  std::vector<Slot> reads;      // left values that the right side reads
  bool always_acyclic = false;  // applying can make no cycle, wherever the pattern lies
  std::vector<Slot> leaves;     // left values without a producer in the pattern
  std::uint32_t radius = 1;     // nodes farther from the anchor than this do not matter
  // Whether a match at an anchor is decided by the nodes at most `depth` producers above it, whatever else
  // uses their values.
  bool local = false;
  std::uint32_t depth = 0;
  // Whether the bound values alone decide if a match is legal, wherever the pattern lies: no check after the
  // walk counts uses.
  bool decided_by_bindings = false;
  KindSet anchors;
  // A match may have no tensor of more dims; set where only proved rules are wanted.
  std::size_t most_rank = kAnyRank;

  bool is_siblings() const { return sibling_member_set >= 0; }
};

/// Whether a node of the pattern reads one of this one's outputs.
bool is_interior(const CompiledRule& rule, std::size_t node);
/// The pattern's nodes, each behind those whose outputs it reads. Of a pattern that reads itself not all.
std::vector<std::size_t> pattern_order(const CompiledRule& rule);

}
