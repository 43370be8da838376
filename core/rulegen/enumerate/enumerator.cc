#include "core/rulegen/enumerate/enumerator.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace regraft::rulegen {
namespace {

constexpr std::size_t kMostRoots = 2;
constexpr std::size_t kMemoBytes = 128;  // of one remembered result, with what the table needs around it
constexpr std::size_t kCopies = 2;       // of the records: they are copied when more room is made, or written
constexpr std::size_t kFirstRecords = 256;
constexpr std::size_t kGraphsBetweenPolls = 256;

}  // namespace

Enumerator::Enumerator(const OpTable& table, const PointEvaluator& evaluator, std::size_t depth,
                       EnumerateLimits limits)
    : table_(table), evaluator_(evaluator), depth_(depth), limits_(std::move(limits)) {
  first_ = choices();
}

const PointValue& Enumerator::value(std::int8_t input) const {
  if (input < 0) return evaluator_.leaf(static_cast<std::size_t>(-1 - input));
  return values_[static_cast<std::size_t>(input / 2)][static_cast<std::size_t>(input % 2)];
}

std::vector<Enumerator::Choice> Enumerator::choices() const {
  std::vector<std::int8_t> refs;
  for (std::size_t l = 0; l < table_.leaves.size(); ++l)
    refs.push_back(static_cast<std::int8_t>(-1 - static_cast<int>(l)));
  for (std::size_t n = 0; n < values_.size(); ++n)
    for (std::size_t port = 0; port < values_[n].size(); ++port)
      refs.push_back(static_cast<std::int8_t>(2 * n + port));
  std::vector<Choice> out;
  for (std::size_t f = 0; f < table_.forms.size(); ++f) {
    const std::uint8_t inputs = table_.forms[f].inputs;
    const auto form = static_cast<std::uint8_t>(f);
    if (inputs == 0) {
      out.push_back({form, {GraphCode::kNoInput, GraphCode::kNoInput}});
      continue;
    }
    for (std::int8_t a : refs) {
      if (inputs == 1 && evaluator_.fits(form, &value(a), nullptr))
        out.push_back({form, {a, GraphCode::kNoInput}});
      if (inputs == 1) continue;
      for (std::int8_t b : refs) {
        if (table_.commutative(form) && a > b) continue;
        if (evaluator_.fits(form, &value(a), &value(b))) out.push_back({form, {a, b}});
      }
    }
  }
  return out;
}

// One order of nodes for each graph: a node that does not read the one before comes after it in the order of
// codes.
bool Enumerator::in_order(const Choice& choice) const {
  if (code_.count == 0) return true;
  const GraphCode::Node& last = code_.nodes[code_.count - 1u];
  for (std::int8_t input : choice.inputs) {
    if (input >= 0 && input != GraphCode::kNoInput && input / 2 == code_.count - 1) return true;
  }
  return GraphCode::Node{choice.form, choice.inputs} > last;
}

bool Enumerator::record(std::span<const Hash128> outputs) {
  bool is_new = true;
  for (std::size_t i = 0; i < outputs.size() && is_new; ++i) {
    for (std::size_t l = 0; l < table_.leaves.size(); ++l)
      is_new = is_new && evaluator_.leaf(l).print != outputs[i];
    for (const auto& node : prints_)
      is_new = is_new && std::find(node.begin(), node.end(), outputs[i]) == node.end();
  }
  const auto roots = roots_of(code_, table_);
  if (roots.size() > kMostRoots || !is_connected(code_)) return is_new;
  InlineVector<Hash128, 4> prints;
  for (std::int8_t root : roots) {
    const auto n = static_cast<std::size_t>(root / 2), port = static_cast<std::size_t>(root % 2);
    prints.push_back(n + 1u == code_.count ? outputs[port] : prints_[n][port]);
  }
  if (!is_new && prints.size() > 1) return false;
  std::sort(prints.begin(), prints.end());
  Hasher hasher(prints.size());
  for (const Hash128& print : prints) hasher.add(print);
  keep({hasher.finish(), canonical(code_, table_)});
  return is_new;
}

// Three quarters of the room at most: the rest is for what is remembered.
std::size_t Enumerator::most_records() const {
  return limits_.bytes / 4 * 3 / (kCopies * sizeof(GraphRecord));
}

// Twice the room, as far as the limit allows it, or that of records that are there twice.
void Enumerator::keep(const GraphRecord& found) {
  if (records_.size() == records_.capacity()) {
    const std::size_t more = std::min(std::max(kFirstRecords, 2 * records_.capacity()), most_records());
    if (more > records_.capacity()) {
      memo_.clear();
      records_.reserve(more);
    } else {
      sort_records();
      if (4 * records_.size() >= 3 * records_.capacity()) end_ = End::memory;
    }
  }
  if (end_ == End::whole) records_.push_back(found);
}

void Enumerator::sort_records() {
  std::sort(records_.begin(), records_.end());
  records_.erase(std::unique(records_.begin(), records_.end()), records_.end());
}

std::size_t Enumerator::most_memo() const {
  const std::size_t taken = kCopies * records_.capacity() * sizeof(GraphRecord);
  return std::max<std::size_t>(1, (limits_.bytes - std::min(limits_.bytes, taken)) / kMemoBytes);
}

void Enumerator::poll() {
  if (++grown_ % kGraphsBetweenPolls != 0 || !limits_.is_over || !limits_.is_over()) return;
  end_ = End::time;
  way_.assign(at_.begin() + 1, at_.begin() + 1 + code_.count);
}

void Enumerator::grow_last(const Choice& choice) {
  const std::uint16_t form = choice.form;
  const PointValue* a = choice.inputs[0] == GraphCode::kNoInput ? nullptr : &value(choice.inputs[0]);
  const PointValue* b = choice.inputs[1] == GraphCode::kNoInput ? nullptr : &value(choice.inputs[1]);
  const auto roots = roots_of(code_, table_);
  if (roots.size() > kMostRoots || !is_connected(code_)) return;
  Hasher key(form);
  if (a) key.add(a->print);
  if (a) key.add(std::bit_cast<std::uint64_t>(a->cuts));
  if (b) key.add(b->print);
  const Hash128 at = key.finish();
  auto held = memo_.find(at);
  if (held == memo_.end()) {
    if (memo_.size() >= most_memo()) memo_.clear();
    const auto made = evaluator_.evaluate(form, a, b);
    held = memo_.emplace(at, std::array{made[0].print, made.back().print}).first;
  }
  record(std::span(held->second).first(table_.forms[form].outputs));
}

void Enumerator::grow(const Choice& choice) {
  if (!in_order(choice)) return;
  if (end_ == End::whole) poll();
  if (end_ != End::whole) return;
  code_.nodes[code_.count] = {choice.form, choice.inputs};
  ++code_.count;
  if (code_.count == depth_) {
    grow_last(choice);
  } else {
    const PointValue* a = choice.inputs[0] == GraphCode::kNoInput ? nullptr : &value(choice.inputs[0]);
    const PointValue* b = choice.inputs[1] == GraphCode::kNoInput ? nullptr : &value(choice.inputs[1]);
    std::vector<PointValue> made = evaluator_.evaluate(choice.form, a, b);
    std::vector<Hash128> prints;
    for (const PointValue& v : made) prints.push_back(v.print);
    const bool is_new = record(prints);
    values_.push_back(std::move(made));
    prints_.push_back(std::move(prints));
    // Each node takes away one root at most.
    if (is_new && roots_of(code_, table_).size() <= kMostRoots + depth_ - code_.count) {
      grow_further();
    }
    values_.pop_back();
    prints_.pop_back();
  }
  --code_.count;
  code_.nodes[code_.count] = {};
}

// A run that goes on takes the way of the one before down to where that was ended.
void Enumerator::grow_further() {
  const std::vector<Choice> next = choices();
  const std::size_t level = code_.count;
  const bool on_way = is_on_way_ && level <= way_.size();
  is_on_way_ = on_way && level < way_.size();
  for (at_[level] = on_way ? way_[level - 1] : 0; at_[level] < next.size(); ++at_[level]) {
    grow(next[at_[level]]);
    if (end_ != End::whole) return;
  }
}

UnitPart Enumerator::part() {
  sort_records();
  return {std::exchange(records_, {}), way_};
}

std::optional<std::vector<GraphRecord>> Enumerator::run(std::size_t unit, UnitPart part) {
  records_ = std::move(part.records);
  way_ = std::move(part.way);
  is_on_way_ = !way_.empty();
  grown_ = 0;  // so that a run comes further than the one before, however short its time
  end_ = End::whole;
  if (unit == 0) {
    for (std::size_t l = 0; l < table_.leaves.size(); ++l) {
      GraphRecord leaf;
      leaf.code.nodes[0].inputs = {static_cast<std::int8_t>(-1 - static_cast<int>(l)), GraphCode::kNoInput};
      Hasher hasher(1);
      hasher.add(evaluator_.leaf(l).print);
      leaf.print = hasher.finish();
      keep(leaf);
    }
  }
  grow(first_[unit]);
  if (end_ != End::whole) return std::nullopt;
  sort_records();
  return std::exchange(records_, {});
}

}
