#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/rulegen/enumerate/rulegen_error.h"

namespace regraft::rulegen {

/// What may stand at a node of a term: an op with its attributes, or a constant that rules make on their
/// right side. A row of the op table of the generator, or what an imported rule says of one of its ops.
struct Form {
  enum class Constant : std::uint8_t { none, ones, eye, conv_eye, average };

  std::string name;  // "conv3x3-same-relu": as the user chooses it
  graph::OpKind kind = graph::OpKind::identity;
  /// Canonical for the generator's shapes; importers leave out what the file does not say.
  graph::AttrBlock attrs{};
  std::uint8_t inputs = 1;
  std::uint8_t outputs = 1;
  bool relu = false;  // a Relu follows: TASO's convolutions carry their activation
  Constant constant = Constant::none;
  std::vector<std::int64_t> constant_dims{};  // of constants, in the generator
};

/// A leaf or an output of a node. As a number: leaves are negative.
class Ref {
 public:
  Ref() = default;
  static Ref leaf(int number) { return Ref(static_cast<std::int16_t>(-1 - number)); }
  static Ref output(int node, int port = 0) { return Ref(static_cast<std::int16_t>(2 * node + port)); }

  bool is_leaf() const { return code_ < 0; }
  int leaf_number() const { return -1 - code_; }
  int node() const { return code_ / 2; }
  int port() const { return code_ % 2; }
  auto operator<=>(const Ref&) const = default;

 private:
  explicit Ref(std::int16_t code) : code_(code) {}
  std::int16_t code_ = -1;
};

struct TermNode {
  std::uint16_t form = 0;
  std::vector<Ref> inputs;
  auto operator<=>(const TermNode&) const = default;
};

/// A small graph: nodes in an order in which inputs come first.
struct Term {
  std::vector<TermNode> nodes;
  std::vector<Ref> roots;
  auto operator<=>(const Term&) const = default;
};

inline constexpr int kAnyRank = -1;

/// Two terms over the same leaves and forms, whose roots are pairwise equal, or are said to be.
struct TermRule {
  Term left, right;
  std::vector<int> ranks;  // of each leaf; kAnyRank where the rule does not say
  auto operator<=>(const TermRule&) const = default;
};

/// Equal nodes are one, nodes that no root needs are gone, leaves are numbered in the order of their first
/// use (left before right). Forms with `relu` become two nodes; `relu_form` is the number of the plain one.
TermRule normal_form(const TermRule& rule, const std::vector<Form>& forms, std::uint16_t relu_form);

/// Whether the nodes hang together over edges and shared leaves: only such a left side can be matched.
bool is_connected(const Term& term);

/// Leaves that a term uses, ascending.
std::vector<int> leaves_of(const Term& term);

}
