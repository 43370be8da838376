#include "core/exec/site/site_memo.h"

#include <iterator>
#include <map>

#include "core/base/error.h"
#include "core/exec/site/site.h"

namespace regraft::exec {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Value;
using graph::WeightId;

constexpr std::int64_t kFew = 64;  // elements, of bounds and factors, which decide what wide numbers become

enum class Constants : std::uint8_t { by_type, by_value };

/// Hashes both sides, by all that a check reads. Leaves count by their place, in which they are drawn.
class SiteHash {
 public:
  SiteHash(const Graph& before, const Graph& after, const Site& site, Constants constants)
      : before_(before), after_(after), site_(site), constants_(constants) {
    hash_.add(static_cast<std::uint64_t>(constants));
    hash_.add(before.tables().generation());
    hash_.add(site.leaves.size());
    for (const Value& leaf : site.leaves) hash_.add(static_cast<std::uint64_t>(before.type_id(leaf)));
  }

  Hash128 of(const rules::Rewrite& rewrite) {
    hash_.add(rewrite.before.size());
    for (const Value& value : rewrite.before) add(value);
    hash_.add(rewrite.after.size());
    for (const Value& value : rewrite.after) add(value);
    for (const NodeId id : site_.left) add({id, 0});
    return hash_.finish();
  }

 private:
  enum class Kind : std::uint64_t { none, leaf, constant, node };

  void add(Kind kind, std::uint64_t which) {
    hash_.add(static_cast<std::uint64_t>(kind));
    hash_.add(which);
  }

  void add(Value value) {
    if (!value.present()) return add(Kind::none, 0);
    if (const auto leaf = site_.leaves.find(value); leaf != site_.leaves.end())
      return add(Kind::leaf, static_cast<std::uint64_t>(std::distance(site_.leaves.begin(), leaf)));
    const bool was_there = before_.alive(value.node) && !site_.right.contains(value.node);
    const graph::Node& node = (was_there ? before_ : after_).node(value.node);
    if (node.kind == graph::OpKind::weight) return add(node.weight);
    const auto [number, fresh] = numbers_.try_emplace(value.node, numbers_.size());
    add(Kind::node, number->second);
    hash_.add(value.output);
    if (!fresh) return;
    hash_.add(static_cast<std::uint64_t>(node.kind));
    hash_.add(static_cast<std::uint64_t>(node.attrs));
    for (const graph::TypeId type : node.outputs) hash_.add(static_cast<std::uint64_t>(type));
    hash_.add(node.inputs.size());
    for (const Value& input : node.inputs) add(input);
  }

  void add(WeightId id) {
    if (id == WeightId::none) return add(Kind::none, 0);
    const graph::WeightExpr& weight = before_.tables().weights()[id];
    const bool by_type = constants_ == Constants::by_type &&
                         weight.form != graph::WeightExpr::Form::literal &&
                         before_.tables().type(weight.type).element_count().value_or(0) > kFew;
    add(Kind::constant, static_cast<std::uint64_t>(weight.type));
    if (!by_type) return hash_.add(weight.hash);
    hash_.add(static_cast<std::uint64_t>(weight.form));
    hash_.add(static_cast<std::uint64_t>(weight.kind));
    hash_.add(static_cast<std::uint64_t>(weight.attrs));
    hash_.add(weight.output);
    for (const WeightId arg : weight.args) add(arg);
  }

  const Graph& before_;
  const Graph& after_;
  const Site& site_;
  Constants constants_;
  Hasher hash_;
  std::map<NodeId, std::size_t> numbers_;
};

}  // namespace

SiteReport SiteMemo::check(const Graph& before, const Graph& after, const rules::Rewrite& rewrite,
                           SiteOptions options) {
  if (rewrite.before.empty()) return check_site(before, after, rewrite, options);
  Hash128 same, alike;
  try {
    const Site site = find_site(before, after, rewrite.match.nodes, rewrite.after);
    same = SiteHash(before, after, site, Constants::by_value).of(rewrite);
    alike = SiteHash(before, after, site, Constants::by_type).of(rewrite);
  } catch (const Error&) {  // which the check says
    return check_site(before, after, rewrite, options);
  }
  if (passed_.contains(same)) return {true, 0, 0, "the same rewrite passed before"};
  if (passed_.contains(alike)) options.draws = 1;
  SiteReport report = check_site(before, after, rewrite, options);
  if (report.passes && report.alone) passed_.insert({same, alike});
  return report;
}

}
