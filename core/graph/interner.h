#pragma once

#include <deque>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/hash.h"
#include "core/graph/op.h"
#include "core/graph/tables_hold.h"

namespace regraft::graph {

/// An operation with everything a cost depends on, whatever node it stands at.
struct Signature {
  OpKind kind;
  AttrId attrs;
  TypeList outputs;
  InlineVector<TypeId, 4> inputs;          // of present inputs; absent ones have type_none()
  InlineVector<std::uint8_t, 4> constant;  // 1 where the input is a weight
};

/// Types, attributes, signatures and symbols, each held once under an id. Grows, until the newest are given
/// back (shrink_names). Used by one thread. Never moved.
class Interner {
 public:
  Interner();
  /// A copy with the same ids, which another thread may use.
  explicit Interner(const Interner& other);
  Interner& operator=(const Interner&) = delete;

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

 protected:
  /// How many there are of each.
  TablesBound names_bound() const {
    return {types_.size(), attrs_.size(), signatures_.size(), symbols_.size(), 0};
  }
  /// Forgets those after `least`; their ids will be reused.
  void shrink_names(const TablesBound& least);

 private:
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
};

}
