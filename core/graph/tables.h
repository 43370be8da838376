#pragma once

#include <deque>
#include <limits>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/hash.h"
#include "core/graph/tables_hold.h"
#include "core/graph/weights.h"

namespace regraft::graph {

/// An operation with everything a cost depends on, whatever node it stands at.
struct Signature {
  OpKind kind;
  AttrId attrs;
  TypeList outputs;
  InlineVector<TypeId, 4> inputs;          // of present inputs; absent ones have type_none()
  InlineVector<std::uint8_t, 4> constant;  // 1 where the input is a weight
};

class Tables;

/// Values for symbols; those not bound count as 1.
class Bindings {
 public:
  void bind(SymbolId symbol, std::int64_t value);
  /// The same values for the symbols of these tables, which outlive it: symbols that are formulas over others
  /// ("(2*n)") are computed from them.
  Bindings in(const Tables& tables) const;

  /// The value that was bound, if one was.
  std::optional<std::int64_t> find(SymbolId symbol) const;
  std::int64_t value(Dim dim) const;
  std::int64_t element_count(const TensorType& type) const;  // unranked types count as 1

 private:
  std::unordered_map<SymbolId, std::int64_t> values_;
  const Tables* tables_ = nullptr;  // null: formulas count as 1
};

/// Interned types, attributes, signatures, symbols and weights of one model. Grows, until what no graph
/// refers to is given back (shrink). Used by one thread; graphs point at it and it outlives them. Never
/// moved.
class Tables {
 public:
  Tables();
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;

  TypeId intern(const TensorType& type);
  TypeId intern(DType dtype, std::span<const Dim> dims);
  const TensorType& type(TypeId id) const { return types_[index(id)]; }
  /// The type of a missing optional input: undefined, unranked.
  TypeId type_none() const { return TypeId{0}; }

  AttrId intern(const AttrBlock& attrs);
  const AttrBlock& attrs(AttrId id) const { return attrs_[index(id)]; }
  const Hash128& attrs_hash(AttrId id) const { return attr_hashes_[index(id)]; }
  const Hash128& type_hash(TypeId id) const { return type_hashes_[index(id)]; }

  SignatureId intern(const Signature& signature);
  const Signature& signature(SignatureId id) const { return signatures_[index(id)]; }
  std::size_t signature_count() const { return signatures_.size(); }

  SymbolId symbol(std::string_view name);
  SymbolId fresh_symbol();
  std::optional<SymbolId> find_symbol(std::string_view name) const;
  const std::string& symbol_name(SymbolId symbol) const { return symbols_[symbol]; }
  std::size_t symbol_count() const { return symbols_.size(); }
  std::string describe(TypeId id) const;  // "float32[1, 3, batch]"

  /// How much it has of everything.
  TablesBound bound() const {
    return {types_.size(), attrs_.size(), signatures_.size(), symbols_.size(), weights_.size()};
  }
  /// What live graphs may refer to.
  TablesBound held() const;
  /// For graphs, which say there what they refer to.
  TablesHolds& holds() { return holds_; }
  /// Forgets entries after `least` that no live graph may refer to; their ids will be reused. For owners of
  /// long walks who hold such ids only in graphs.
  void shrink(TablesBound least);
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
  std::pmr::unsynchronized_pool_resource pool_;  // what shrink() gives back is taken again without the heap
  std::pmr::deque<TensorType> types_{&pool_};
  std::pmr::deque<Hash128> type_hashes_{&pool_};
  std::pmr::unordered_map<Hash128, TypeId> type_ids_{&pool_};
  std::pmr::deque<AttrBlock> attrs_{&pool_};
  std::pmr::deque<Hash128> attr_hashes_{&pool_};
  std::pmr::unordered_map<Hash128, AttrId> attr_ids_{&pool_};
  std::pmr::deque<Signature> signatures_{&pool_};
  std::pmr::unordered_map<Hash128, SignatureId> signature_ids_{&pool_};
  std::vector<std::string> symbols_;
  std::unordered_map<std::string, SymbolId> symbol_ids_;
  std::unordered_map<std::int32_t, Hash128> opaque_hashes_;
  std::int64_t opset_ = std::numeric_limits<std::int64_t>::max();
  WeightTable weights_;
};

}  // namespace regraft::graph
