#include "core/corpus/norms.h"

#include <gmock/gmock.h>

#include "core/corpus/constant_net.h"

namespace regraft::corpus {
namespace {

using Norm = Tensor (*)(Net&, const Tensor&);

/// A norm of numbers so large that no epsilon counts.
std::vector<double> normed(Norm norm, Exporter exporter) {
  Net net = net_of(exporter, 13);
  const Tensor x = net.table({2, 4}, std::vector<float>{100, -300, 50, 900, -1000, 20, 60, 500});
  return value_of(net, norm(net, x));
}

TEST(Norms, AreTheSameFunctionInAllDialects) {
  for (const Norm norm : {&layer_norm, &rms_norm}) {
    const std::vector<double> first = normed(norm, Exporter::torch_script);
    ASSERT_EQ(first.size(), 8u);
    for (int exporter = 1; exporter < 5; ++exporter)
      EXPECT_THAT(normed(norm, static_cast<Exporter>(exporter)),
                  ::testing::Pointwise(::testing::DoubleNear(1e-5), first))
          << exporter;
  }
}

TEST(Norms, ALayerNormIsOneOpWhereTheOpsetHasIt) {
  Net net = net_of(Exporter::paddle, 17);
  layer_norm(net, net.input("x", {2, 4}));
  EXPECT_EQ(net.model().nodes.size(), 1u);
}

}  // namespace
}
