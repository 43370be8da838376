#include "core/graph/tables_hold.h"

#include "core/graph/tables.h"

namespace regraft::graph {

void TablesHold::join(Tables* tables) {
  tables_ = tables;
  if (!tables) return;
  next_ = tables->holds_;
  if (next_) next_->previous_ = this;
  tables->holds_ = this;
}

void TablesHold::leave() {
  if (!tables_) return;
  if (next_) next_->previous_ = previous_;
  (previous_ ? previous_->next_ : tables_->holds_) = next_;
  tables_ = nullptr;
  previous_ = next_ = nullptr;
}

TablesHold& TablesHold::operator=(const TablesHold& other) {
  if (this == &other) return *this;
  leave();
  bound_ = other.bound_;
  join(other.tables_);
  return *this;
}

}  // namespace regraft::graph
