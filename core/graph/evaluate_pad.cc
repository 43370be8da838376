#include <algorithm>

#include "core/graph/evaluate_ops.h"

namespace regraft::graph {
namespace {

constexpr std::int64_t kOutside = -1;

/// For each position of the padded axis the source position, or kOutside where the constant goes.
std::vector<std::int64_t> source_positions(std::int64_t size, std::int64_t before, std::int64_t after,
                                           const std::string& mode) {
  const std::int64_t padded = std::max<std::int64_t>(size + before + after, 0);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(padded));
  for (std::int64_t i = 0; i < padded; ++i) {
    std::int64_t at = i - before;
    if (at < 0 || at >= size) {
      if (mode == "constant") {
        at = kOutside;
      } else if (size == 0) {
        refuse(OpKind::pad, "has nothing to repeat");
      } else if (mode == "edge") {
        at = std::clamp<std::int64_t>(at, 0, size - 1);
      } else if (mode == "wrap") {
        at = (at % size + size) % size;
      } else if (mode == "reflect") {
        const std::int64_t period = std::max<std::int64_t>(2 * (size - 1), 1);
        at = (at % period + period) % period;
        if (at >= size) at = period - at;
      } else {
        refuse(OpKind::pad, "mode '" + mode + "' is not folded");
      }
    }
    positions[static_cast<std::size_t>(i)] = at;
  }
  return positions;
}

template <typename T>
class Padder {
 public:
  Padder(const std::vector<T>& in, std::span<const std::int64_t> in_dims,
         const std::vector<std::vector<std::int64_t>>& positions, T fill, std::vector<T>& out)
      : in_(in), strides_(strides_of(in_dims)), positions_(positions), fill_(fill), out_(out.data()) {}

  void run(std::size_t axis, std::int64_t in_at, bool outside) {
    if (axis == positions_.size()) {
      *out_++ = outside ? fill_ : in_[static_cast<std::size_t>(in_at)];
      return;
    }
    const bool last = axis + 1 == positions_.size();
    for (const std::int64_t position : positions_[axis]) {
      const bool gone = outside || position == kOutside;
      if (last)
        *out_++ = gone ? fill_ : in_[static_cast<std::size_t>(in_at + position)];
      else
        run(axis + 1, gone ? 0 : in_at + position * strides_[axis], gone);
    }
  }

 private:
  const std::vector<T>& in_;
  std::vector<std::int64_t> strides_;
  const std::vector<std::vector<std::int64_t>>& positions_;
  T fill_;
  T* out_;
};

double fill_value(const AttrBlock& attrs, Inputs inputs) {
  if (inputs.size() > 2 && inputs[2] && inputs[2]->size() == 1)
    return is_float(inputs[2]->dtype) ? inputs[2]->real[0] : static_cast<double>(inputs[2]->integer[0]);
  const AttrValue* value = attrs.find(Attr::value);
  if (!value) return 0;
  return std::holds_alternative<double>(*value) ? std::get<double>(*value)
                                                : static_cast<double>(std::get<std::int64_t>(*value));
}

}  // namespace

HostTensor evaluate_pad(const AttrBlock& attrs, Inputs inputs) {
  const HostTensor& x = *inputs[0];
  const Ints& pads = attrs.ints(Attr::pads);
  const std::string mode = attrs.has(Attr::mode) ? attrs.text(Attr::mode) : "constant";
  const std::size_t rank = x.dims.size();
  if (pads.size() != 2 * rank) refuse(OpKind::pad, "pads do not fit the rank");
  std::vector<std::vector<std::int64_t>> positions;
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < rank; ++i) {
    positions.push_back(source_positions(x.dims[i], pads[i], pads[i + rank], mode));
    dims.push_back(static_cast<std::int64_t>(positions.back().size()));
  }
  HostTensor result = make_tensor(x.dtype, dims);
  if (result.size() == 0) return result;
  const double fill = fill_value(attrs, inputs);
  if (is_float(x.dtype))
    Padder<double>(x.real, x.dims, positions, fill, result.real).run(0, 0, false);
  else
    Padder<std::int64_t>(x.integer, x.dims, positions, static_cast<std::int64_t>(fill), result.integer)
        .run(0, 0, false);
  return result;
}

}
