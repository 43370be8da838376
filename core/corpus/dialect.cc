#include "core/corpus/dialect.h"

namespace regraft::corpus {

std::string Dialect::producer() const {
  if (is_torch()) return "pytorch";
  return is(Exporter::tensorflow) ? "tf2onnx" : "PaddlePaddle";
}

std::string Dialect::producer_version() const {
  if (is_torch()) return is(Exporter::torch_dynamo) ? "2.7.0" : "2.1.0";
  return is(Exporter::tensorflow) ? "1.16.1" : "";
}

Dialect draw_dialect(std::uint64_t seed, Draw& draw) {
  Dialect dialect;
  dialect.exporter = static_cast<Exporter>(seed % enum_names(Exporter{}).size());
  switch (dialect.exporter) {
    case Exporter::torch_script:
    case Exporter::torch_raw:
      dialect.opset = draw.pick({11, 12, 13, 14, 16, 17, 17});
      break;
    case Exporter::torch_dynamo:
      dialect.opset = draw.pick({18, 18, 20});
      break;
    case Exporter::tensorflow:
      dialect.opset = draw.pick({12, 13, 15, 17});
      break;
    case Exporter::paddle:
      dialect.opset = draw.pick({11, 12, 13, 16});
      break;
  }
  dialect.folds_norms =
      dialect.is(Exporter::torch_script) || (!dialect.is(Exporter::torch_raw) && draw.chance(0.5));
  dialect.reduces_space =
      dialect.is(Exporter::torch_dynamo) || dialect.is(Exporter::tensorflow) || draw.chance(0.3);
  dialect.fused_attention = dialect.is_torch() && draw.chance(0.6);
  dialect.flat_products = dialect.is(Exporter::tensorflow) && draw.chance(0.6);
  return dialect;
}

}
