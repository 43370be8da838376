#include "core/cost/device_profile.h"

#include <toml++/toml.h>

#include <sstream>
#include <vector>

#include "core/base/file.h"
#include "core/base/find_config.h"
#include "core/base/text.h"
#include "core/cost/cost_error.h"
#include "core/cost/fused_patterns.h"
#include "core/cost/fusion_files.h"
#include "core/graph/opaque_work.h"

namespace regraft::cost {
namespace {

struct Field {
  const char* key;
  double DeviceProfile::*member;
  double low, high;
};

constexpr double kMostNs = 1e4;
constexpr double kMostRate = 1e6;
constexpr double kMostBytes = 1e12;

const std::array kFields{
    Field{"kernel.launch_us", &DeviceProfile::launch_us, 0, kMostNs},
    Field{"kernel.linear_launch_us", &DeviceProfile::linear_launch_us, 0, kMostNs},
    Field{"kernel.fused_pass_us", &DeviceProfile::fused_pass_us, 0, kMostNs},
    Field{"kernel.view_us", &DeviceProfile::view_us, 0, kMostNs},
    Field{"memory.near_bytes", &DeviceProfile::near_bytes, 0, kMostBytes},
    Field{"memory.resident_bytes", &DeviceProfile::resident_bytes, 0, kMostBytes},
    Field{"memory.streamed_bytes", &DeviceProfile::streamed_bytes, 0, kMostBytes},
    Field{"memory.near_ns_per_byte", &DeviceProfile::near_ns_per_byte, 0, kMostNs},
    Field{"memory.far_ns_per_byte", &DeviceProfile::far_ns_per_byte, 0, kMostNs},
    Field{"memory.spill_ns", &DeviceProfile::spill_ns, 0, kMostNs},
    Field{"gemm.gflops", &DeviceProfile::gemm_gflops, 1e-3, kMostRate},
    Field{"gemm.int8_gflops", &DeviceProfile::int8_gflops, 1e-3, kMostRate},
    Field{"gemm.gemv_resident_gbps", &DeviceProfile::gemv_resident_gbps, 1e-3, kMostRate},
    Field{"gemm.gemv_streamed_gbps", &DeviceProfile::gemv_streamed_gbps, 1e-3, kMostRate},
    Field{"gemm.weights_streamed_gbps", &DeviceProfile::weights_streamed_gbps, 1e-3, kMostRate},
    Field{"gemm.column_block", &DeviceProfile::column_block, 1, 4096},
    Field{"gemm.pack_ns", &DeviceProfile::pack_ns, 0, kMostNs},
    Field{"gemm.product_ns", &DeviceProfile::product_ns, 0, kMostNs},
    Field{"gemm.alias_stride_bytes", &DeviceProfile::alias_stride_bytes, 1, kMostBytes},
    Field{"gemm.alias_slowdown", &DeviceProfile::alias_slowdown, 1, 100},
    Field{"gemm.alias_min_rows", &DeviceProfile::alias_min_rows, 1, kMostBytes},
    Field{"conv.channel_block", &DeviceProfile::channel_block, 1, 4096},
    Field{"conv.channel_alignment", &DeviceProfile::channel_alignment, 1, 4096},
    Field{"conv.gflops", &DeviceProfile::conv_gflops, 1e-3, kMostRate},
    Field{"conv.first_gflops", &DeviceProfile::first_conv_gflops, 1e-3, kMostRate},
    Field{"conv.depthwise_gflops", &DeviceProfile::depthwise_gflops, 1e-3, kMostRate},
    Field{"conv.im2col_ns", &DeviceProfile::im2col_ns, 0, kMostNs},
    Field{"conv.im2col_strided_ns", &DeviceProfile::im2col_strided_ns, 0, kMostNs},
    Field{"conv.output_ns", &DeviceProfile::conv_output_ns, 0, kMostNs},
    Field{"conv.sum_ns", &DeviceProfile::conv_sum_ns, 0, kMostNs},
    Field{"conv.reorder_ns", &DeviceProfile::reorder_ns, 0, kMostNs},
    Field{"conv.window_ns", &DeviceProfile::window_ns, 0, kMostNs},
    Field{"conv.window_1d_ns", &DeviceProfile::window_1d_ns, 0, kMostNs},
    Field{"element.layer_norm_ns", &DeviceProfile::layer_norm_ns, 0, kMostNs},
    Field{"element.skip_layer_norm_ns", &DeviceProfile::skip_layer_norm_ns, 0, kMostNs},
    Field{"element.softmax_ns", &DeviceProfile::softmax_ns, 0, kMostNs},
    Field{"element.quantised_softmax_ns", &DeviceProfile::quantised_softmax_ns, 0, kMostNs},
    Field{"element.gelu_ns", &DeviceProfile::gelu_ns, 0, kMostNs},
    Field{"element.batch_norm_ns", &DeviceProfile::batch_norm_ns, 0, kMostNs},
    Field{"element.reduce_ns", &DeviceProfile::reduce_ns, 0, kMostNs},
    Field{"element.reduce_rows_ns", &DeviceProfile::reduce_rows_ns, 0, kMostNs},
    Field{"element.reduce_group_ns", &DeviceProfile::reduce_group_ns, 0, kMostNs},
    Field{"element.reduce_extreme_ns", &DeviceProfile::reduce_extreme_ns, 0, kMostNs},
    Field{"element.copy_ns", &DeviceProfile::copy_ns, 0, kMostNs},
    Field{"element.chunk_ns", &DeviceProfile::chunk_ns, 0, kMostNs},
    Field{"element.transpose_ns", &DeviceProfile::transpose_ns, 0, kMostNs},
    Field{"element.scattered_ns", &DeviceProfile::scattered_ns, 0, kMostNs},
    Field{"element.step_ns", &DeviceProfile::step_ns, 0, kMostNs},
    Field{"element.silu_ns", &DeviceProfile::silu_ns, 0, kMostNs},
    Field{"element.square_ns", &DeviceProfile::square_ns, 0, kMostNs},
    Field{"element.resize_ns", &DeviceProfile::resize_ns, 0, kMostNs},
    Field{"recurrent.step_us", &DeviceProfile::recurrent_step_us, 0, kMostNs},
    Field{"attention.gflops", &DeviceProfile::attention_gflops, 1e-3, kMostRate},
    Field{"attention.score_ns", &DeviceProfile::attention_score_ns, 0, kMostNs},
    Field{"attention.added_ns", &DeviceProfile::attention_added_ns, 0, kMostNs},
};

constexpr std::string_view kElementwiseTable = "elementwise";
constexpr std::string_view kOpaqueTable = "opaque";
constexpr std::string_view kDefaultKey = "default";

std::string at(const std::string& source, const toml::node& node) {
  return source + ":" + std::to_string(node.source().begin.line);
}

std::string range_text(double low, double high) {
  std::ostringstream text;
  text << "a number, " << low << " to " << high;
  return text.str();
}

double number(const toml::node& node, const std::string& key, double low, double high,
              const std::string& source) {
  const auto value = node.value<double>();
  if (!value || node.is_boolean() || !(*value >= low && *value <= high)) {
    std::ostringstream shown;
    node.visit([&](const auto& typed) { shown << typed; });
    throw CostError(key + " = " + shown.str() + " is not allowed", at(source, node), range_text(low, high));
  }
  return *value;
}

std::vector<std::string> known_keys() {
  std::vector<std::string> keys{"name", "runtime"};
  for (const Field& field : kFields) keys.emplace_back(field.key);
  return keys;
}

// Calls take(op, node, ns) for each line of a table of ns by op, the default first.
template <typename Take>
void read_rates(const toml::table& root, std::string_view name, const std::string& source, Take take) {
  const std::string of = std::string(name) + ".";
  const toml::table* table = root[name].as_table();
  if (!table)
    throw CostError("table " + std::string(name) + " is missing", source, "at least " + of + "default");
  const toml::node* fallback = table->get(kDefaultKey);
  if (!fallback)
    throw CostError(of + "default is missing", at(source, *table), "ns an element of ops not listed");
  const auto ns = [&](const toml::node& node, const std::string& key) {
    return number(node, of + key, 0, kMostNs, source);
  };
  take(kDefaultKey, *fallback, ns(*fallback, "default"));
  for (const auto& [key, node] : *table)
    if (key.str() != kDefaultKey) take(key.str(), node, ns(node, std::string(key.str())));
}

void read_elementwise(const toml::table& root, const std::string& source, DeviceProfile& device) {
  read_rates(root, kElementwiseTable, source, [&](std::string_view op, const toml::node& node, double ns) {
    if (op == kDefaultKey) return device.elementwise_ns.fill(ns);
    const auto kind = graph::op_from_name(op);
    if (!kind || !graph::op_info(*kind).is(graph::kElementwise))
      throw CostError("elementwise." + std::string(op) + " is no elementwise op", at(source, node),
                      "use ONNX op names such as Relu");
    device.elementwise_ns[static_cast<std::size_t>(*kind)] = ns;
  });
}

void read_opaque(const toml::table& root, const std::string& source, DeviceProfile& device) {
  read_rates(root, kOpaqueTable, source, [&](std::string_view op, const toml::node& node, double ns) {
    if (op == kDefaultKey) {
      device.opaque_default_ns = ns;
    } else if (graph::opaque_op(op)) {
      device.opaque_ns.emplace(op, ns);
    } else {
      std::vector<std::string> ops;
      for (const graph::OpaqueOp& row : graph::opaque_ops()) ops.emplace_back(row.name);
      throw CostError("opaque." + std::string(op) + " is no op that has a unit of work", at(source, node),
                      suggestion(op, ops));
    }
  });
}

void refuse_unknown(const std::string& key, const toml::node& node, const std::string& source) {
  const auto keys = known_keys();
  throw CostError("unknown key " + key, at(source, node), suggestion(key, keys));
}

// Every key of the file is known.
void check_keys(const toml::table& root, const std::string& source) {
  const auto keys = known_keys();
  const auto known = [&](const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  for (const auto& [key, node] : root) {
    const std::string name(key.str());
    if ((name == kElementwiseTable || name == kOpaqueTable) && node.is_table()) continue;
    const toml::table* inner = node.as_table();
    if (!inner) {
      if (!known(name)) refuse_unknown(name, node, source);
      continue;
    }
    for (const auto& [inner_key, inner_node] : *inner)
      if (const std::string full = name + "." + std::string(inner_key.str()); !known(full))
        refuse_unknown(full, inner_node, source);
  }
}

}  // namespace

DeviceProfile parse_device(std::string_view text, const std::string& source) {
  toml::table root;
  try {
    root = toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    throw CostError(std::string(error.description()),
                    source + ":" + std::to_string(error.source().begin.line), "a device profile is TOML");
  }
  check_keys(root, source);
  DeviceProfile device;
  const auto text_of = [&](const char* key, const char* example) {
    const auto value = root[key].value<std::string>();
    if (!value || value->empty())
      throw CostError(std::string(key) + " is missing", source, std::string(key) + " = " + example);
    return *value;
  };
  device.name = text_of("name", "\"cpu-1core\"");
  device.runtime = text_of("runtime", "\"onnxruntime\", of configs/runtimes/onnxruntime-1.31.fusions");
  for (const Field& field : kFields) {
    const auto node = root.at_path(field.key);
    if (!node)
      throw CostError(std::string(field.key) + " is missing", source, range_text(field.low, field.high));
    device.*field.member = number(*node.node(), field.key, field.low, field.high, source);
  }
  read_elementwise(root, source, device);
  read_opaque(root, source, device);
  if (device.streamed_bytes <= device.resident_bytes)
    throw CostError("memory.streamed_bytes is not larger than memory.resident_bytes", source, "");
  return device;
}

DeviceProfile load_device(const std::filesystem::path& path, const std::string& runtime_version) {
  DeviceProfile device = parse_device(read_file(path), path.string());
  const FusionFile fusions = find_fusions(find_config("configs/runtimes"), device.runtime, runtime_version);
  device.fusions = std::make_shared<FusedPatterns>(FusedPatterns::load(fusions.path));
  device.fusions_version = fusions.version;
  return device;
}

}
