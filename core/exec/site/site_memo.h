#pragma once

#include <set>

#include "core/base/hash.h"
#include "core/exec/site/site_check.h"

namespace regraft::exec {

/// Checks rewrites of one model by check_site, and remembers which sites passed. One thread; the options are
/// the same each time. The same nodes with the same constants pass at once: the same numbers would be drawn.
/// With other constants of the same types, of more than 64 elements, they are drawn once, if the site is not
/// small: what happens at wide numbers was seen.
class SiteMemo {
 public:
  SiteReport check(const graph::Graph& before, const graph::Graph& after, const rules::Rewrite& rewrite,
                   SiteOptions options);

 private:
  std::set<Hash128> passed_;  // with constants and without
};

}
