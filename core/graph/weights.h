#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory_resource>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/bounded_memo.h"
#include "core/base/hash.h"
#include "core/graph/interner.h"

namespace regraft::graph {

/// A constant: a tensor of the model (its bytes stay where they are, usually memory-mapped), a literal made
/// by us, or an operation on other constants. Hash-consed: equal expressions have equal ids. Nothing is
/// evaluated during search; graph/evaluate.h folds an expression at export.
struct WeightExpr {
  enum class Form : std::uint8_t { source, literal, operation };
  Form form = Form::source;
  TypeId type{};
  Hash128 hash;  // of the contents for source and literal, of the expression for operation
  std::span<const std::byte> bytes;  // source, literal: little-endian elements, row-major
  std::int32_t source = -1;          // source: index of the initializer or Constant in the imported model
  OpKind kind = OpKind::weight;      // operation
  AttrId attrs{};                    // operation
  std::uint32_t output = 0;          // operation: which output (Split)
  InlineVector<WeightId, 3> args;    // operation
};

/// All constants of one model. Grows, until what no graph refers to is given back (shrink).
class WeightTable {
 public:
  explicit WeightTable(Interner& names) : names_(names) {}
  /// A copy with the same ids; `names` is a copy of the other's.
  WeightTable(const WeightTable& other, Interner& names);
  WeightTable(const WeightTable&) = delete;
  WeightTable& operator=(const WeightTable&) = delete;

  /// A tensor of the model; `bytes` must outlive the table. Two tensors with equal contents and type share an
  /// id: the first one's.
  WeightId source(TypeId type, std::span<const std::byte> bytes, std::int32_t source_index);
  /// A small constant of our own; the bytes are copied.
  WeightId literal(TypeId type, std::span<const std::byte> bytes);
  WeightId scalar(DType dtype, double value);               // rank 0
  WeightId integers(std::span<const std::int64_t> values);  // int64, rank 1
  /// One output of an operation on constants. Its type is asked for where it is new; constant_operation
  /// (graph/constants.h) infers it.
  WeightId operation(OpKind kind, AttrId attrs, std::span<const WeightId> args, std::uint32_t output,
                     const std::function<TypeId()>& type_of);

  const WeightExpr& operator[](WeightId id) const { return exprs_[index(id)]; }
  std::size_t size() const { return exprs_.size(); }

  /// Forgets the constants from `least` on: nobody may refer to them. Their ids will be given to others.
  /// Tables::shrink_weights asks the graphs.
  void shrink(std::size_t least);

  /// Values of small constants that were asked for (graph/constants.h), by the constant's hash.
  struct Values {
    BoundedMemo<std::vector<std::int64_t>> integers;
    BoundedMemo<std::optional<double>> scalars;
  };
  Values& known_values() const { return known_values_; }

 private:
  WeightId add(WeightExpr expr, const Hash128& key);

  Interner& names_;
  std::pmr::unsynchronized_pool_resource pool_;  // what shrink() gives back is taken again without the heap
  std::pmr::deque<WeightExpr> exprs_{&pool_};
  std::pmr::deque<std::pmr::vector<std::byte>> owned_{&pool_};
  std::pmr::unordered_map<Hash128, WeightId> by_key_{&pool_};
  // By contents, so that they outlast shrink().
  BoundedMemo<std::vector<std::byte>> scalar_bytes_;
  mutable Values known_values_;
};

}
