#include "core/graph/interner.h"

#include <bit>

namespace regraft::graph {
namespace {

Hash128 hash_of(const TensorType& type) {
  Hasher hasher(3);
  hasher.add(static_cast<std::uint64_t>(type.dtype));
  hasher.add(type.ranked ? type.dims.size() + 1 : 0);
  for (const Dim dim : type.dims) hasher.add(static_cast<std::uint64_t>(dim));
  return hasher.finish();
}

Hash128 hash_of(const AttrBlock& attrs) {
  Hasher hasher(4);
  for (const auto& [attr, value] : attrs.entries()) {
    hasher.add(static_cast<std::uint64_t>(attr));
    hasher.add(value.index());
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      hasher.add(static_cast<std::uint64_t>(*integer));
    if (const auto* real = std::get_if<double>(&value)) hasher.add(std::bit_cast<std::uint64_t>(*real));
    if (const auto* text = std::get_if<std::string>(&value)) hasher.add(hash_text(*text));
    if (const auto* list = std::get_if<Ints>(&value)) {
      hasher.add(list->size());
      for (const std::int64_t item : *list) hasher.add(static_cast<std::uint64_t>(item));
    }
  }
  return hasher.finish();
}

Hash128 hash_of(const Signature& signature) {
  Hasher hasher(5);
  hasher.add(static_cast<std::uint64_t>(signature.kind));
  hasher.add(index(signature.attrs));
  hasher.add(signature.outputs.size());
  for (const TypeId type : signature.outputs) hasher.add(index(type));
  for (const TypeId type : signature.inputs) hasher.add(index(type));
  for (const std::uint8_t constant : signature.constant) hasher.add(constant);
  return hasher.finish();
}

}  // namespace

Interner::Interner() {
  intern(TensorType{});
  intern(AttrBlock{});
}

Interner::Interner(const Interner& other)
    : types_(other.types_, &pool_),
      type_hashes_(other.type_hashes_, &pool_),
      type_ids_(other.type_ids_, &pool_),
      attrs_(other.attrs_, &pool_),
      attr_hashes_(other.attr_hashes_, &pool_),
      attr_ids_(other.attr_ids_, &pool_),
      signatures_(other.signatures_, &pool_),
      signature_ids_(other.signature_ids_, &pool_),
      symbols_(other.symbols_),
      symbol_ids_(other.symbol_ids_) {}

void Interner::shrink_names(const TablesBound& least) {
  for (; types_.size() > least.types; types_.pop_back(), type_hashes_.pop_back())
    type_ids_.erase(hash_of(types_.back()));
  for (; attrs_.size() > least.attrs; attrs_.pop_back(), attr_hashes_.pop_back())
    attr_ids_.erase(attr_hashes_.back());
  for (; signatures_.size() > least.signatures; signatures_.pop_back())
    signature_ids_.erase(hash_of(signatures_.back()));
  for (; symbols_.size() > least.symbols; symbols_.pop_back()) symbol_ids_.erase(symbols_.back());
}

TypeId Interner::intern(const TensorType& type) {
  const Hash128 key = hash_of(type);
  const auto [at, fresh] = type_ids_.try_emplace(key, TypeId{static_cast<std::uint32_t>(types_.size())});
  if (fresh) {
    types_.push_back(type);
    Hasher portable(6);  // symbols by name, so that the hash does not depend on the order of interning
    portable.add(static_cast<std::uint64_t>(type.dtype));
    portable.add(type.ranked ? type.dims.size() + 1 : 0);
    for (const Dim dim : type.dims) {
      if (is_symbol(dim))
        portable.add(hash_text(symbols_[dim_symbol(dim)]));
      else
        portable.add(static_cast<std::uint64_t>(dim));
    }
    type_hashes_.push_back(portable.finish());
  }
  return at->second;
}

TypeId Interner::intern(DType dtype, std::span<const Dim> dims) {
  return intern(TensorType{dtype, true, Dims(dims)});
}

AttrId Interner::intern(const AttrBlock& attrs) {
  const Hash128 key = hash_of(attrs);
  const auto [at, fresh] = attr_ids_.try_emplace(key, AttrId{static_cast<std::uint32_t>(attrs_.size())});
  if (fresh) {
    attrs_.push_back(attrs);
    attr_hashes_.push_back(key);
  }
  return at->second;
}

SignatureId Interner::intern(const Signature& signature) {
  const Hash128 key = hash_of(signature);
  const auto [at, fresh] =
      signature_ids_.try_emplace(key, SignatureId{static_cast<std::uint32_t>(signatures_.size())});
  if (fresh) signatures_.push_back(signature);
  return at->second;
}

SymbolId Interner::symbol(std::string_view name) {
  const auto [at, fresh] = symbol_ids_.try_emplace(std::string(name), static_cast<SymbolId>(symbols_.size()));
  if (fresh) symbols_.emplace_back(name);
  return at->second;
}

std::optional<SymbolId> Interner::find_symbol(std::string_view name) const {
  const auto found = symbol_ids_.find(std::string(name));
  return found == symbol_ids_.end() ? std::nullopt : std::optional(found->second);
}

SymbolId Interner::fresh_symbol() {
  std::string name = "?" + std::to_string(symbols_.size());
  while (symbol_ids_.contains(name)) name += '?';
  return symbol(name);
}

std::string Interner::describe(TypeId id) const {
  const TensorType& held = type(id);
  std::string text = dtype_name(held.dtype);
  if (!held.ranked) return text + "[...]";
  text += '[';
  for (std::size_t i = 0; i < held.dims.size(); ++i) {
    if (i > 0) text += ", ";
    const Dim dim = held.dims[i];
    text += is_symbol(dim) ? symbols_[dim_symbol(dim)] : std::to_string(dim);
  }
  return text + ']';
}

}
