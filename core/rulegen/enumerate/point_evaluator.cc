#include "core/rulegen/enumerate/point_evaluator.h"

#include <algorithm>

#include "core/rulegen/enumerate/window.h"

namespace regraft::rulegen {
namespace {

using A = graph::Attr;
using K = graph::OpKind;
using Ints = std::vector<std::int64_t>;

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

}
