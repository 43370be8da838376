#include "core/graph/evaluate_pieces.h"

#include <algorithm>
#include <unordered_map>

#include "core/graph/evaluate.h"
#include "core/graph/evaluate_ops.h"
#include "core/graph/tables.h"

namespace regraft::graph {
namespace {

bool is_elementwise(const WeightExpr& expr) {
  return expr.form == WeightExpr::Form::operation && op_info(expr.kind).is(kElementwise) &&
         !op_info(expr.kind).is(kMovement);
}

/// Folds what one range of rows along `axis` of a weight needs. All dims before the axis are 1, so that rows
/// lie one after the other.
class PieceFolder {
 public:
  PieceFolder(const Tables& tables, WeightId root, std::size_t axis)
      : tables_(tables), root_(root), below_(dims_of(root).size() - axis) {}

  HostTensor fold(std::int64_t begin, std::int64_t end) { return fold(root_, begin, end); }

 private:
  const WeightExpr& expr(WeightId id) const { return tables_.weights()[id]; }
  std::span<const Dim> dims_of(WeightId id) const { return tables_.type(expr(id).type).dims; }

  /// The part of an operand that is as long as the root there; all of an operand that is repeated.
  HostTensor fold(WeightId id, std::int64_t begin, std::int64_t end) {
    const std::span<const Dim> dims = dims_of(id);
    if (dims.size() < below_ || dims[dims.size() - below_] == 1) return whole(id);
    const WeightExpr& held = expr(id);
    if (is_elementwise(held)) {
      std::vector<HostTensor> parts;
      std::vector<const HostTensor*> inputs;
      parts.reserve(held.args.size());
      for (const WeightId arg : held.args) {
        if (arg != WeightId::none) parts.push_back(fold(arg, begin, end));
        inputs.push_back(arg == WeightId::none ? nullptr : &parts.back());
      }
      return std::move(evaluate_op(held.kind, tables_.attrs(held.attrs), inputs).at(held.output));
    }
    return moves_only(id) ? part_of_bytes(id, begin, end) : part_of(whole(id), begin, end);
  }

  /// Whether its elements are those of tensors of the model, so that its bytes say all of it.
  bool moves_only(WeightId id) const {
    UseCounts uses;
    return std::ranges::all_of(fold_order(tables_, id, uses), [&](WeightId each) {
      return expr(each).form != WeightExpr::Form::operation || op_info(expr(each).kind).is(kMovement);
    });
  }

  HostTensor part_of_bytes(WeightId id, std::int64_t begin, std::int64_t end) {
    const std::span<const std::byte> bytes = bytes_of(id);
    TensorType type = tables_.type(expr(id).type);
    Dim& rows = type.dims[type.dims.size() - below_];
    const std::size_t row_bytes = bytes.size() / static_cast<std::size_t>(rows);
    rows = end - begin;
    return HostTensor::from_bytes(type, bytes.subspan(static_cast<std::size_t>(begin) * row_bytes,
                                                      static_cast<std::size_t>(rows) * row_bytes));
  }

  HostTensor part_of(const HostTensor& tensor, std::int64_t begin, std::int64_t end) const {
    HostTensor part{tensor.dtype, tensor.dims, {}, {}};
    std::int64_t& rows = part.dims[part.dims.size() - below_];
    const auto row = static_cast<std::ptrdiff_t>(tensor.size()) / rows;
    const auto copy = [&](const auto& from, auto& to) {
      if (!from.empty()) to.assign(from.begin() + begin * row, from.begin() + end * row);
    };
    copy(tensor.real, part.real);
    copy(tensor.integer, part.integer);
    rows = end - begin;
    return part;
  }

  const HostTensor& whole(WeightId id) {
    const auto [held, fresh] = whole_.try_emplace(id);
    if (fresh) held->second = evaluate(tables_, id);
    return held->second;
  }

  /// The bytes of a tensor of the model, or of one whose elements are only moved.
  std::span<const std::byte> bytes_of(WeightId id) {
    if (expr(id).form != WeightExpr::Form::operation) return expr(id).bytes;
    const auto [held, fresh] = moved_.try_emplace(id);
    if (fresh) held->second = evaluate_bytes(tables_, id);
    return held->second;
  }

  const Tables& tables_;
  WeightId root_;
  std::size_t below_;  // dims from the axis on
  std::unordered_map<WeightId, HostTensor> whole_;
  std::unordered_map<WeightId, std::vector<std::byte>> moved_;
};

}  // namespace

void evaluate_in_pieces(const Tables& tables, WeightId weight,
                        const std::function<void(std::span<const std::byte>)>& write,
                        std::size_t piece_elements) {
  const WeightExpr& root = tables.weights()[weight];
  const TensorType& type = tables.type(root.type);
  const auto count = static_cast<std::size_t>(type.element_count().value_or(0));
  if (count <= piece_elements || !is_elementwise(root)) {
    write(evaluate_bytes(tables, weight));
    return;
  }
  const auto axis = static_cast<std::size_t>(
      std::ranges::find_if(type.dims, [](Dim dim) { return dim != 1; }) - type.dims.begin());
  const auto rows = static_cast<std::size_t>(type.dims[axis]);
  const std::size_t step = std::max<std::size_t>(1, piece_elements / (count / rows));
  PieceFolder folder(tables, weight, axis);
  for (std::size_t begin = 0; begin < rows; begin += step)
    write(
        folder.fold(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(std::min(rows, begin + step)))
            .to_bytes());
}

}
