#include <cstring>
#include <unordered_map>

#include "core/graph/evaluate.h"
#include "core/graph/evaluate_strided.h"
#include "core/graph/tables.h"

namespace regraft::graph {
namespace {

/// A tensor as its bytes, in place where nothing moved.
struct RawTensor {
  std::vector<std::int64_t> dims;
  std::vector<std::byte> owned;
  std::span<const std::byte> bytes;
};

template <typename T>
void copy_as(const StridedView& view, std::span<const std::byte> in, std::vector<std::byte>& out) {
  std::vector<T> aligned;  // raw_data may start at any address
  const T* source = reinterpret_cast<const T*>(in.data());
  if (reinterpret_cast<std::uintptr_t>(in.data()) % alignof(T) != 0) {
    aligned.resize(in.size() / sizeof(T));
    std::memcpy(aligned.data(), in.data(), in.size());
    source = aligned.data();
  }
  copy_strided(view, source, reinterpret_cast<T*>(out.data()));
}

class RawFolder {
 public:
  RawFolder(const Tables& tables, WeightId root)
      : tables_(tables), root_(root), order_(fold_order(tables, root, uses_)) {
    width_ = dtype_bytes(type_of(root).dtype);
  }

  /// Whether nothing but movement of elements of one dtype is asked for.
  bool applies() const {
    const bool known_width = width_ == 1 || width_ == 2 || width_ == 4 || width_ == 8;
    if (!known_width) return false;
    for (const WeightId id : order_) {
      const WeightExpr& held = tables_.weights()[id];
      if (type_of(id).dtype != type_of(root_).dtype || !type_of(id).is_static()) return false;
      if (held.form != WeightExpr::Form::operation) continue;
      const bool moves =
          (is_strided_movement(held.kind) && held.args.size() == 1) || held.kind == OpKind::concat;
      if (!moves) return false;
      for (const WeightId arg : held.args)
        if (arg == WeightId::none) return false;
    }
    return true;
  }

  std::vector<std::byte> fold() {
    for (const WeightId id : order_) {
      values_.emplace(id, compute(id));
      for (const WeightId arg : tables_.weights()[id].args)
        if (--uses_[arg] == 0 && values_.at(arg).owned.data() != values_.at(id).bytes.data())
          values_.erase(arg);
    }
    RawTensor& result = values_.at(root_);
    if (!result.owned.empty()) return std::move(result.owned);
    return {result.bytes.begin(), result.bytes.end()};
  }

 private:
  const TensorType& type_of(WeightId id) const { return tables_.type(tables_.weights()[id].type); }

  RawTensor compute(WeightId id) const {
    const WeightExpr& held = tables_.weights()[id];
    if (held.form != WeightExpr::Form::operation)
      return {{type_of(id).dims.begin(), type_of(id).dims.end()}, {}, held.bytes};
    const AttrBlock& attrs = tables_.attrs(held.attrs);
    if (held.kind == OpKind::concat) return join(attrs, held.args);
    const RawTensor& x = values_.at(held.args[0]);
    Movement movement = strided_movement(held.kind, attrs, x.dims, held.output);
    RawTensor result{std::move(movement.dims), {}, x.bytes};
    if (!is_dense(movement.view, element_count(x.dims))) move(movement.view, x.bytes, result);
    return result;
  }

  void move(const StridedView& view, std::span<const std::byte> in, RawTensor& out) const {
    out.owned.resize(static_cast<std::size_t>(element_count(view.dims)) * width_);
    switch (width_) {
      case 1:
        copy_as<std::uint8_t>(view, in, out.owned);
        break;
      case 2:
        copy_as<std::uint16_t>(view, in, out.owned);
        break;
      case 4:
        copy_as<std::uint32_t>(view, in, out.owned);
        break;
      default:
        copy_as<std::uint64_t>(view, in, out.owned);
    }
    out.bytes = out.owned;
  }

  RawTensor join(const AttrBlock& attrs, std::span<const WeightId> args) const {
    const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
    RawTensor result{values_.at(args[0]).dims, {}, {}};
    result.dims.at(axis) = 0;
    for (const WeightId arg : args) result.dims[axis] += values_.at(arg).dims.at(axis);
    const std::span<const std::int64_t> dims = result.dims;
    const auto outer = static_cast<std::size_t>(element_count(dims.first(axis)));
    result.owned.reserve(static_cast<std::size_t>(element_count(dims)) * width_);
    for (std::size_t i = 0; i < outer; ++i)
      for (const WeightId arg : args) {
        const std::span<const std::byte> part = values_.at(arg).bytes;
        const std::size_t row = part.size() / outer;
        result.owned.insert(result.owned.end(), part.begin() + static_cast<std::ptrdiff_t>(i * row),
                            part.begin() + static_cast<std::ptrdiff_t>((i + 1) * row));
      }
    result.bytes = result.owned;
    return result;
  }

  const Tables& tables_;
  WeightId root_;
  UseCounts uses_;
  std::vector<WeightId> order_;
  std::size_t width_ = 0;
  std::unordered_map<WeightId, RawTensor> values_;
};

}  // namespace

std::vector<std::byte> evaluate_bytes(const Tables& tables, WeightId weight) {
  RawFolder raw(tables, weight);
  return raw.applies() ? raw.fold() : evaluate(tables, weight).to_bytes();
}

}
