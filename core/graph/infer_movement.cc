#include <algorithm>

#include "core/graph/constants.h"
#include "core/graph/infer.h"

namespace regraft::graph {
namespace {

bool contains(const Ints& list, std::size_t value) {
  return std::find(list.begin(), list.end(), static_cast<std::int64_t>(value)) != list.end();
}

/// Length of a slice along a static dim, with starts and ends already clamped.
std::int64_t slice_length(const OpInfo& op, std::int64_t start, std::int64_t end, std::int64_t step) {
  const Wide span = step > 0 ? Wide{end} - start : Wide{start} - end;
  const Wide stride = step > 0 ? step : -Wide{step};
  return narrow(op, span <= 0 ? 0 : (span + stride - 1) / stride);
}

using Elements = InlineVector<Element, 6>;

/// What is known of a list of integers: an attribute, or an operand that may be constant.
Elements listed(const Tables& tables, const AttrBlock& attrs, Attr attr, Operands operands,
                std::size_t slot) {
  Elements elements(elements_of(operands, slot));
  const bool constant = has_operand(operands, slot) && operands[slot].value != WeightId::none;
  const auto values = constant ? integer_values(tables, operands[slot].value) : std::nullopt;
  const auto add = [&](std::int64_t item) { elements.push_back(Element::number(item)); };
  if (values) std::ranges::for_each(*values, add);
  if (attrs.has(attr)) std::ranges::for_each(attrs.ints(attr), add);
  return elements;
}

Element item(const Elements& list, std::size_t i) {
  return i < list.size() ? list[i] : Element{};
}

/// How many elements of a dim are taken.
Dim slice_of(Tables& tables, const OpInfo& op, Dim dim, Element start, Element end, Element step) {
  if (!start.known() || !end.known() || !step.is_number() || step.value <= 0)
    return symbol_dim(tables.fresh_symbol());
  if (is_symbol(dim) || !start.is_number() || !end.is_number())
    return slice_dim(tables, dim, start, end, step.value);
  const auto place = [dim](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + dim : at, 0, dim);
  };
  return slice_length(op, place(start.value), place(end.value), step.value);
}

}  // namespace

TypeList infer_reshape(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  const bool constant = attrs.has(Attr::shape);
  const std::span<const Element> elements = elements_of(operands, 1);
  if (!constant && elements.empty()) return shaped_by_operand(tables, x.dtype, operands, 1);
  const std::size_t rank = constant ? attrs.ints(Attr::shape).size() : elements.size();
  Dims dims;
  std::optional<std::size_t> left;  // over, for the elements that no other dim has
  bool inferred = false, several = false;
  for (std::size_t i = 0; i < rank; ++i) {
    const Element wanted = constant ? Element::number(attrs.ints(Attr::shape)[i]) : elements[i];
    const bool rest = wanted == Element::number(-1), copies = wanted == Element::number(0);
    if (wanted.is_number() && wanted.value < -1) fail(op, "shape holds " + std::to_string(wanted.value));
    if (rest && inferred) fail(op, "shape holds -1 twice");
    if (copies && !x.ranked) return unranked(tables, x.dtype);
    if (copies && i >= x.rank()) fail(op, "shape copies a dim that the input lacks");
    inferred = inferred || rest;
    dims.push_back(copies ? x.dims[i] : wanted.is_dim() ? wanted.value : 1);
    if (copies || wanted.is_dim()) continue;
    several = several || left.has_value();
    if (left)
      dims[i] = symbol_dim(tables.fresh_symbol());
    else
      left = i;
  }
  if (left)
    dims[*left] =
        x.ranked && !several ? quotient_dim(tables, op, x.dims, dims) : symbol_dim(tables.fresh_symbol());
  const TensorType result{x.dtype, true, dims};
  const auto before = x.element_count(), after = result.element_count();
  if (before && after && *before != *after)
    fail(op, "turns " + std::to_string(*before) + " elements into " + std::to_string(*after));
  return TypeList{tables.intern(result)};
}

TypeList infer_flatten(Tables& tables, const OpInfo&, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  if (!x.ranked) return unranked(tables, x.dtype);
  const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
  const std::span<const Dim> dims = x.dims;
  const Dim rows = product_dim(tables, dims.first(axis)), columns = product_dim(tables, dims.subspan(axis));
  return one_type(tables, x.dtype, Dims{rows, columns});
}

TypeList infer_transpose(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  if (!x.ranked) return unranked(tables, x.dtype);
  const Ints& perm = attrs.ints(Attr::perm);
  if (perm.size() != x.rank()) fail(op, "perm does not fit rank " + std::to_string(x.rank()));
  Dims dims;
  for (std::size_t i = 0; i < perm.size(); ++i) {
    if (!contains(perm, i)) fail(op, "perm is no permutation");
    dims.push_back(x.dims[static_cast<std::size_t>(perm[i])]);
  }
  return one_type(tables, x.dtype, dims);
}

TypeList infer_squeeze(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  if (!x.ranked || !attrs.has(Attr::axes)) return unranked(tables, x.dtype);
  const Ints& axes = attrs.ints(Attr::axes);
  Dims dims;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (!contains(axes, i))
      dims.push_back(x.dims[i]);
    else if (!is_symbol(x.dims[i]) && x.dims[i] != 1)
      fail(op, "axis " + std::to_string(i) + " has size " + std::to_string(x.dims[i]));
  }
  return one_type(tables, x.dtype, dims);
}

TypeList infer_unsqueeze(Tables& tables, const OpInfo&, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  if (!x.ranked || !attrs.has(Attr::axes)) return unranked(tables, x.dtype);
  const Ints& axes = attrs.ints(Attr::axes);
  Dims dims;
  std::size_t next = 0;
  for (std::size_t i = 0; i < x.rank() + axes.size(); ++i)
    dims.push_back(contains(axes, i) ? 1 : x.dims[next++]);
  return one_type(tables, x.dtype, dims);
}

TypeList infer_concat(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType first = operand_type(tables, operands, 0);
  const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
  Dims dims = first.dims;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const TensorType x = operand_type(tables, operands, k);
    if (x.dtype != first.dtype) fail(op, "mixes element types");
    if (!x.ranked || !first.ranked) return unranked(tables, first.dtype);
    if (x.rank() != first.rank()) fail(op, "mixes ranks");
    for (std::size_t i = 0; i < dims.size() && k > 0; ++i) {
      if (i == axis) {
        dims[i] = add_dims(tables, op, dims[i], x.dims[i]);
      } else if (dims[i] != x.dims[i]) {
        if (!is_symbol(dims[i]) && !is_symbol(x.dims[i]))
          fail(op, "inputs differ in dim " + std::to_string(i));
        if (is_symbol(dims[i])) dims[i] = x.dims[i];
      }
    }
  }
  return one_type(tables, first.dtype, dims);
}

TypeList infer_split(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  const Ints& sizes = attrs.ints(Attr::split);
  const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
  TypeList types;
  Wide sum = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0) fail(op, "a part has size " + std::to_string(size));
    sum += size;
    TensorType part = x;
    if (part.ranked) part.dims[axis] = size;
    types.push_back(tables.intern(part));
  }
  if (x.ranked && !is_symbol(x.dims[axis]) && sum != x.dims[axis])
    fail(op, "parts add up to " + std::to_string(narrow(op, sum)) + ", not " + std::to_string(x.dims[axis]));
  return types;
}

TypeList infer_slice(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  if (!x.ranked) return unranked(tables, x.dtype);
  const Elements starts = listed(tables, attrs, Attr::starts, operands, 1),
                 ends = listed(tables, attrs, Attr::ends, operands, 2),
                 axes = listed(tables, attrs, Attr::axes, operands, 3),
                 steps = listed(tables, attrs, Attr::steps, operands, 4);
  Dims dims = x.dims;
  const bool all = axes.empty() && !has_operand(operands, 3),
             places_known = all ? !starts.empty() : !axes.empty();
  if (!places_known) std::ranges::generate(dims, [&] { return symbol_dim(tables.fresh_symbol()); });
  for (std::size_t i = 0; i < (all ? starts.size() : axes.size()); ++i) {
    if (!all && !axes[i].is_number()) return unranked(tables, x.dtype);
    const std::int64_t axis = resolve_axis(op, all ? static_cast<std::int64_t>(i) : axes[i].value, x.rank());
    const bool unit = steps.empty() && !has_operand(operands, 4);
    Dim& dim = dims[static_cast<std::size_t>(axis)];
    dim =
        slice_of(tables, op, dim, item(starts, i), item(ends, i), unit ? Element::number(1) : item(steps, i));
  }
  return one_type(tables, x.dtype, dims);
}

TypeList infer_gather(Tables& tables, const OpInfo&, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0), indices = operand_type(tables, operands, 1);
  if (!x.ranked || !indices.ranked) return unranked(tables, x.dtype);
  const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
  Dims dims{std::span<const Dim>(x.dims.data(), axis)};
  for (const Dim dim : indices.dims) dims.push_back(dim);
  for (std::size_t i = axis + 1; i < x.rank(); ++i) dims.push_back(x.dims[i]);
  return one_type(tables, x.dtype, dims);
}

TypeList infer_gather_elements(Tables& tables, const OpInfo& op, const AttrBlock&, Operands operands) {
  TensorType indices = operand_type(tables, operands, 1);
  const TensorType& x = operand_type(tables, operands, 0);
  if (x.ranked && indices.ranked && x.rank() != indices.rank()) fail(op, "ranks of data and indices differ");
  indices.dtype = x.dtype;
  return TypeList{tables.intern(indices)};
}

TypeList infer_expand(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  const Elements shape = listed(tables, attrs, Attr::shape, operands, 1);
  const bool scalar = attrs.has(Attr::shape);
  if (!x.ranked || (shape.empty() && !scalar)) return unranked(tables, x.dtype);
  Dims wanted;
  for (const Element& size : shape) {
    if (size.is_number() && size.value < 0) fail(op, "shape holds " + std::to_string(size.value));
    wanted.push_back(size.known() ? size.value : symbol_dim(tables.fresh_symbol()));
  }
  return one_type(tables, x.dtype, broadcast(tables, op, x.dims, wanted));
}

/// Only what repeats elements exactly: the first two dims stay, others are kept or enlarged from one.
TypeList infer_resize(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  const Ints& sizes = attrs.ints(Attr::shape);
  if (!x.ranked || x.rank() != sizes.size() + 2) fail(op, "the sizes do not fit the rank");
  Dims dims = x.dims;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 0) fail(op, "the sizes hold " + std::to_string(sizes[i]));
    if (dims[i + 2] != 1 && dims[i + 2] != sizes[i]) fail(op, "only dims of one are enlarged exactly");
    dims[i + 2] = sizes[i];
  }
  return one_type(tables, x.dtype, dims);
}

TypeList infer_tile(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  const Elements repeats = listed(tables, attrs, Attr::repeats, operands, 1);
  if (!x.ranked || (repeats.empty() && !attrs.has(Attr::repeats))) return unranked(tables, x.dtype);
  if (repeats.size() != x.rank()) fail(op, "repeats do not fit rank " + std::to_string(x.rank()));
  Dims dims;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    const Element by = repeats[i];
    dims.push_back(by.is_dim() ? product_dim(tables, Dims{by.value, x.dims[i]})
                               : symbol_dim(tables.fresh_symbol()));
  }
  return one_type(tables, x.dtype, dims);
}

TypeList infer_pad(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType x = operand_type(tables, operands, 0);
  if (!x.ranked) return unranked(tables, x.dtype);
  if (!attrs.has(Attr::pads)) {
    Dims unknown;
    for (std::size_t i = 0; i < x.rank(); ++i) unknown.push_back(symbol_dim(tables.fresh_symbol()));
    return one_type(tables, x.dtype, unknown);
  }
  const Ints& pads = attrs.ints(Attr::pads);
  if (pads.size() != 2 * x.rank()) fail(op, "pads do not fit rank " + std::to_string(x.rank()));
  Dims dims;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const std::int64_t extra = narrow(op, Wide{pads[i]} + pads[i + x.rank()]);
    if (!is_symbol(x.dims[i]) && Wide{x.dims[i]} + extra < 0)
      fail(op, "pads make dim " + std::to_string(i) + " negative");
    if (is_symbol(x.dims[i]) && extra != 0)
      dims.push_back(
          derived_dim(tables, "(" + dim_text(tables, x.dims[i]) + "+" + std::to_string(extra) + ")"));
    else
      dims.push_back(narrow(op, Wide{x.dims[i]} + extra));
  }
  return one_type(tables, x.dtype, dims);
}

TypeList infer_shape(Tables& tables, const OpInfo&, const AttrBlock&, Operands operands) {
  const TensorType& x = operand_type(tables, operands, 0);
  const Dim rank = x.ranked ? static_cast<Dim>(x.rank()) : symbol_dim(tables.fresh_symbol());
  return one_type(tables, DType::int64, std::span(&rank, 1));
}

TypeList infer_constant_of_shape(Tables& tables, const OpInfo&, const AttrBlock& attrs, Operands operands) {
  const DType dtype = attrs.has(Attr::to) ? static_cast<DType>(attrs.integer(Attr::to)) : DType::float32;
  const auto shape =
      operands[0].value == WeightId::none ? std::nullopt : integer_values(tables, operands[0].value);
  if (!shape) return shaped_by_operand(tables, dtype, operands, 0);
  return one_type(tables, dtype, *shape);
}

}
