#include "core/synth/generate_enumerate.h"

#include <algorithm>
#include <bit>

#include "core/synth/generate_window.h"

namespace regraft::synth {
namespace {

using A = graph::Attr;
using K = graph::OpKind;
using Ints = std::vector<std::int64_t>;

constexpr std::size_t kMostRoots = 2;
constexpr std::size_t kMemoBytes = 128;  // of one remembered result, with what the table needs around it
constexpr std::size_t kCopies = 2;       // of the records: they are copied when more room is made, or written
constexpr std::size_t kFirstRecords = 256;
constexpr std::size_t kGraphsBetweenPolls = 256;

const Ints& dims_of(const PointValue& v) {
  return v.at[0].dims;
}

Hash128 print_of(const std::array<HostTensor, kPoints>& at) {
  Hasher hasher;
  for (std::size_t p = 0; p < kPoints; ++p) hasher.add(field_hash(at[p], p));
  return hasher.finish();
}

HostTensor constant_tensor(const Form& form) {
  HostTensor out;
  out.dtype = graph::DType::int64;
  out.dims = form.constant_dims;
  const std::int64_t inner = out.dims.size() == 4 ? out.dims[2] * out.dims[3] : 1;
  for_each_index(out.dims, [&](const Ints& at, std::size_t flat) {
    const auto place = static_cast<std::int64_t>(flat) % inner;
    const bool diagonal = at.size() > 1 && at[0] == at[1] && place == inner / 2;
    std::int64_t v = 1;
    if (form.constant == Form::Constant::average) v = field_inverse(inner);
    if (form.constant == Form::Constant::eye || form.constant == Form::Constant::conv_eye)
      v = diagonal ? 1 : 0;
    out.integer.push_back(v);
  });
  return out;
}

bool window_fits(const Form& form, const Ints& x) {
  const Ints &k = form.attrs.ints(A::kernel_shape), &p = form.attrs.ints(A::pads);
  return x[2] + p[0] + p[2] >= k[0] && x[3] + p[1] + p[3] >= k[1];
}

bool concat_fits(std::size_t axis, const Ints& a, const Ints& b, std::size_t most_elements) {
  if (a.size() != b.size() || a.size() < 2 || axis >= a.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (d != axis && a[d] != b[d]) return false;
  return static_cast<std::size_t>(element_count(a) + element_count(b)) <= most_elements;
}

// Where a Concat joined the result, as far as the op keeps such places.
std::array<std::int16_t, 4> cuts_of(const Form& form, const PointValue* a, const PointValue* b) {
  std::array<std::int16_t, 4> cuts{};
  switch (form.kind) {
    case K::matmul:
      cuts[0] = a->cuts[0];
      cuts[1] = b->cuts[1];
      break;
    case K::conv:
      cuts[0] = a->cuts[0];
      cuts[1] = b->cuts[0];
      break;
    case K::transpose:
      cuts[0] = a->cuts[1];
      cuts[1] = a->cuts[0];
      break;
    case K::add:
    case K::mul:
      cuts = a->cuts;
      if (form.name != "scale" && a->cuts != b->cuts) cuts = {};
      break;
    case K::concat: {
      const auto axis = static_cast<std::size_t>(form.attrs.integer(A::axis));
      for (std::size_t d = 0; d < cuts.size(); ++d)
        cuts[d] = a->cuts[d] == b->cuts[d] ? a->cuts[d] : std::int16_t{0};
      cuts[axis] = static_cast<std::int16_t>(dims_of(*a)[axis]);
      break;
    }
    case K::relu:
    case K::max_pool:
    case K::average_pool:
      cuts = a->cuts;
      break;
    default:
      break;
  }
  return cuts;
}

}  // namespace

PointEvaluator::PointEvaluator(const OpTable& table, std::uint64_t seed) : table_(table) {
  Rng rng(seed, "generator-leaves");
  for (const LeafSpec& spec : table.leaves) {
    PointValue leaf;
    for (HostTensor& t : leaf.at) t = field_random(spec.dims, rng);
    leaf.print = print_of(leaf.at);
    leaves_.push_back(std::move(leaf));
  }
}

bool PointEvaluator::fits(std::uint16_t number, const PointValue* a, const PointValue* b) const {
  const Form& form = table_.forms[number];
  if (form.inputs == 0) return true;
  if (a->constant && (!b || b->constant)) return false;
  const Ints& x = dims_of(*a);
  const auto axis = [&] { return static_cast<std::size_t>(form.attrs.integer(A::axis)); };
  switch (form.kind) {
    case K::matmul:
      return x.size() == 2 && dims_of(*b).size() == 2 && x[1] == dims_of(*b)[0];
    case K::add:
      return x == dims_of(*b) && x.size() >= 2;
    case K::mul:
      return form.name == "scale" ? !x.empty() && dims_of(*b).empty() : x == dims_of(*b) && x.size() >= 2;
    case K::conv: {
      const Ints &w = dims_of(*b), &k = form.attrs.ints(A::kernel_shape);
      return x.size() == 4 && w.size() == 4 && w[2] == k[0] && w[3] == k[1] && x[1] % w[1] == 0 &&
             w[0] % (x[1] / w[1]) == 0 && window_fits(form, x);
    }
    case K::relu:
      return x.size() >= 2;
    case K::max_pool:
    case K::average_pool:
      return x.size() == 4 && window_fits(form, x);
    case K::pad:
      return x.size() == 4 && x[2] == 1 && x[3] == 3;
    case K::transpose:
      return x.size() == 2;
    case K::concat:
      return concat_fits(axis(), x, dims_of(*b), table_.most_elements);
    case K::split:
      return axis() < x.size() && a->cuts[axis()] > 0;
    default:
      return false;
  }
}

graph::AttrBlock PointEvaluator::attributes(const Form& form, const PointValue* a,
                                            const PointValue* b) const {
  graph::AttrBlock attrs = form.attrs;
  if (form.kind == K::conv) attrs.set(A::group, dims_of(*a)[1] / dims_of(*b)[1]);
  if (form.kind == K::split) {
    const auto axis = static_cast<std::size_t>(form.attrs.integer(A::axis));
    attrs.set(A::split, Ints{a->cuts[axis], dims_of(*a)[axis] - a->cuts[axis]});
  }
  return attrs;
}

std::vector<PointValue> PointEvaluator::evaluate(std::uint16_t number, const PointValue* a,
                                                 const PointValue* b) const {
  const Form& form = table_.forms[number];
  std::vector<PointValue> out(form.outputs);
  for (std::size_t p = 0; p < kPoints; ++p) {
    if (form.constant != Form::Constant::none) {
      out[0].at[p] = constant_tensor(form);
      continue;
    }
    std::vector<const HostTensor*> in = {&a->at[p]};
    if (b) in.push_back(&b->at[p]);
    std::vector<HostTensor> made = field_evaluate(form.kind, attributes(form, a, b), in);
    if (form.relu) {
      const HostTensor* conv[] = {&made[0]};
      made = field_evaluate(K::relu, {}, conv);
    }
    for (std::size_t port = 0; port < out.size(); ++port) out[port].at[p] = std::move(made[port]);
  }
  const auto cuts = form.inputs > 0 ? cuts_of(form, a, b) : std::array<std::int16_t, 4>{};
  for (PointValue& v : out) {
    v.print = print_of(v.at);
    v.cuts = cuts;
    v.constant = form.inputs == 0;
  }
  return out;
}

const PointValue* PointEvaluator::find(std::int8_t input, const std::vector<std::vector<PointValue>>& nodes,
                                       std::span<const PointValue> more) const {
  if (input == GraphCode::kNoInput) return nullptr;
  if (input >= 0) return &nodes[static_cast<std::size_t>(input / 2)][static_cast<std::size_t>(input % 2)];
  const auto leaf = static_cast<std::size_t>(-1 - input);
  return leaf < leaves_.size() ? &leaves_[leaf] : &more[leaf - leaves_.size()];
}

std::vector<std::vector<PointValue>> PointEvaluator::values_of(const GraphCode& code,
                                                               std::span<const PointValue> more) const {
  std::vector<std::vector<PointValue>> values;
  for (std::size_t n = 0; n < code.count; ++n) {
    const GraphCode::Node& node = code.nodes[n];
    values.push_back(
        evaluate(node.form, find(node.inputs[0], values, more), find(node.inputs[1], values, more)));
  }
  return values;
}

bool PointEvaluator::well_typed(const GraphCode& code) const {
  std::vector<std::vector<PointValue>> values;
  for (std::size_t n = 0; n < code.count; ++n) {
    const GraphCode::Node& node = code.nodes[n];
    const PointValue *a = find(node.inputs[0], values, {}), *b = find(node.inputs[1], values, {});
    if (!fits(node.form, a, b)) return false;
    values.push_back(evaluate(node.form, a, b));
  }
  return true;
}

std::vector<Hash128> PointEvaluator::root_prints(const GraphCode& code,
                                                 std::span<const PointValue> more) const {
  if (code.count == 0) return {find(code.nodes[0].inputs[0], {}, more)->print};
  const auto values = values_of(code, more);
  std::vector<Hash128> out;
  for (std::int8_t root : roots_of(code, table_)) out.push_back(find(root, values, more)->print);
  return out;
}

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
  for (std::uint16_t f = 0; f < table_.forms.size(); ++f) {
    const std::uint8_t inputs = table_.forms[f].inputs;
    const auto form = static_cast<std::uint8_t>(f);
    if (inputs == 0) {
      out.push_back({form, {GraphCode::kNoInput, GraphCode::kNoInput}});
      continue;
    }
    for (std::int8_t a : refs) {
      if (inputs == 1 && evaluator_.fits(f, &value(a), nullptr))
        out.push_back({form, {a, GraphCode::kNoInput}});
      if (inputs == 1) continue;
      for (std::int8_t b : refs) {
        if (table_.commutative(f) && a > b) continue;
        if (evaluator_.fits(f, &value(a), &value(b))) out.push_back({form, {a, b}});
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

// Twice the room, or, where the limit does not allow it, that of records that are there twice.
void Enumerator::keep(const GraphRecord& found) {
  if (records_.size() == records_.capacity()) {
    const std::size_t more = std::max(kFirstRecords, 2 * records_.capacity());
    if (kCopies * more * sizeof(GraphRecord) <= limits_.bytes) {
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

// In the memory that the records leave.
std::size_t Enumerator::most_memo() const {
  const std::size_t taken = kCopies * records_.capacity() * sizeof(GraphRecord);
  return std::max<std::size_t>(1, (limits_.bytes - std::min(limits_.bytes, taken)) / kMemoBytes);
}

void Enumerator::poll() {
  if (++grown_ % kGraphsBetweenPolls == 0 && limits_.is_over && limits_.is_over()) end_ = End::time;
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
      for (const Choice& next : choices()) grow(next);
    }
    values_.pop_back();
    prints_.pop_back();
  }
  --code_.count;
  code_.nodes[code_.count] = {};
}

std::optional<std::vector<GraphRecord>> Enumerator::run(std::size_t unit) {
  records_.clear();
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

}  // namespace regraft::synth
