#pragma once

#include <algorithm>
#include <cstddef>

namespace regraft::graph {

/// How many names of each kind a Tables has, or how many of them somebody may refer to: ids below are spoken
/// for.
struct TablesBound {
  std::size_t types = 0, attrs = 0, signatures = 0, symbols = 0, weights = 0;

  /// At least these of all kinds but weights.
  void cover_names(const TablesBound& other) {
    types = std::max(types, other.types);
    attrs = std::max(attrs, other.attrs);
    signatures = std::max(signatures, other.signatures);
    symbols = std::max(symbols, other.symbols);
  }
  void cover(const TablesBound& other) {
    cover_names(other);
    weights = std::max(weights, other.weights);
  }
  bool operator==(const TablesBound&) const = default;
};

class TablesHold;

/// All holds on one Tables.
class TablesHolds {
 public:
  TablesHolds() = default;
  TablesHolds(const TablesHolds&) = delete;
  TablesHolds& operator=(const TablesHolds&) = delete;
  ~TablesHolds();

  /// Adds what they cover.
  void cover(TablesBound& held) const;

 private:
  friend class TablesHold;
  TablesHold* first_ = nullptr;
};

/// Says to which ids of a Tables a graph may refer, so that the others can be given back. Copies and moves
/// hold for themselves; tables and hold may go in either order.
class TablesHold {
 public:
  explicit TablesHold(TablesHolds& holds, const TablesBound& bound = {}) : bound_(bound) { join(&holds); }
  TablesHold(const TablesHold& other) : bound_(other.bound_) { join(other.holds_); }
  TablesHold& operator=(const TablesHold& other);
  ~TablesHold() { leave(); }

  const TablesBound& bound() const { return bound_; }
  TablesBound& bound() { return bound_; }

 private:
  friend class TablesHolds;
  void join(TablesHolds* holds);
  void leave();

  TablesHolds* holds_ = nullptr;
  TablesHold *previous_ = nullptr, *next_ = nullptr;  // in the list of holds
  TablesBound bound_;
};

}
