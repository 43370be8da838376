#include "core/graph/tables_hold.h"

namespace regraft::graph {

TablesHolds::~TablesHolds() {
  while (first_) first_->leave();
}

void TablesHolds::cover(TablesBound& held) const {
  for (const TablesHold* hold = first_; hold; hold = hold->next_) held.cover(hold->bound_);
}

void TablesHold::join(TablesHolds* holds) {
  holds_ = holds;
  if (!holds) return;
  next_ = holds->first_;
  if (next_) next_->previous_ = this;
  holds->first_ = this;
}

void TablesHold::leave() {
  if (!holds_) return;
  if (next_) next_->previous_ = previous_;
  (previous_ ? previous_->next_ : holds_->first_) = next_;
  holds_ = nullptr;
  previous_ = next_ = nullptr;
}

TablesHold& TablesHold::operator=(const TablesHold& other) {
  if (this == &other) return *this;
  leave();
  bound_ = other.bound_;
  join(other.holds_);
  return *this;
}

}
