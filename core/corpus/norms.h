#pragma once

#include "core/corpus/net.h"

namespace regraft::corpus {

/// Over channels (axis 1), with running means and variances.
Tensor batch_norm(Net& net, const Tensor& x);
/// Over the last axis: one op, or in parts (Ba et al. 2016).
Tensor layer_norm(Net& net, const Tensor& x);
/// Over the last axis: x / sqrt(mean(x^2) + epsilon) * weight (Zhang and Sennrich 2019).
Tensor rms_norm(Net& net, const Tensor& x);
/// Over groups of channels and all of space (Wu and He 2018).
Tensor group_norm(Net& net, const Tensor& x, std::int64_t groups);

}
