#pragma once

#include <limits>
#include <optional>
#include <unordered_map>

#include "core/graph/interner.h"
#include "core/graph/weights.h"

namespace regraft::graph {

/// Values for symbols; those not bound count as 1.
class Bindings {
 public:
  void bind(SymbolId symbol, std::int64_t value);
  /// The same values for the symbols of this interner, which outlives it: symbols that are formulas over
  /// others
  /// ("(2*n)") are computed from them.
  Bindings in(const Interner& names) const;

  /// The value that was bound, if one was.
  std::optional<std::int64_t> find(SymbolId symbol) const;
  std::int64_t value(Dim dim) const { return resolve(dim, 1).value_or(1); }
  /// What is bound, or follows from what is bound alone.
  std::optional<std::int64_t> known(Dim dim) const { return resolve(dim, std::nullopt); }
  bool know_all(const TensorType& type) const;
  std::int64_t element_count(const TensorType& type) const;  // unranked types count as 1

 private:
  /// Symbols that are not bound are `unbound`. Nothing where a formula has no size at these bindings.
  std::optional<std::int64_t> resolve(Dim dim, std::optional<std::int64_t> unbound) const;

  std::unordered_map<SymbolId, std::int64_t> values_;
  const Interner* names_ = nullptr;  // null: formulas count as 1
};

/// All that graphs of one model refer to: interned names and constants. Grows, until what no graph refers to
/// is given back (shrink). Used by one thread; graphs point at it and it outlives them. Never moved.
class Tables : public Interner {
 public:
  Tables() = default;
  /// A copy with the same ids, which another thread may use; the model's bytes outlive it too. No graph holds
  /// anything of it yet.
  explicit Tables(const Tables& other)
      : Interner(other),
        generation_(other.generation_),
        opaque_hashes_(other.opaque_hashes_),
        opset_(other.opset_),
        weights_(other.weights_, *this) {}

  /// How much it has of everything.
  TablesBound bound() const;
  /// What live graphs may refer to.
  TablesBound held() const;
  /// For graphs, which say there what they refer to.
  TablesHolds& holds() { return holds_; }
  /// Forgets entries after `least` that no live graph may refer to; their ids will be reused. For owners of
  /// long walks who hold such ids only in graphs.
  void shrink(TablesBound least);
  /// The same of the constants alone. What is remembered of constants is remembered by their hash.
  void shrink_weights(std::size_t least);
  /// How often something was forgotten. Ids remembered from before are void; hashes of weights are not.
  std::uint64_t generation() const { return generation_; }

  WeightTable& weights() { return weights_; }
  const WeightTable& weights() const { return weights_; }

  /// The opset of the model: what a rewrite makes must have a form in it (core/graph/opset.h). Tables that
  /// come from no model take everything.
  void set_opset(std::int64_t opset) { opset_ = opset; }
  std::int64_t opset() const { return opset_; }

  /// Hash of an opaque node's contents (op type, domain, attributes, sub-graphs), registered by the importer;
  /// `origin` is the node's index in the imported model.
  void set_opaque_hash(std::int32_t origin, const Hash128& hash) { opaque_hashes_[origin] = hash; }
  Hash128 opaque_hash(std::int32_t origin) const;

 private:
  TablesHolds holds_;
  std::uint64_t generation_ = 0;
  std::unordered_map<std::int32_t, Hash128> opaque_hashes_;
  std::int64_t opset_ = std::numeric_limits<std::int64_t>::max();
  WeightTable weights_{*this};
};

}
