#include "core/nn/model/controller_file.h"

#include <nlohmann/json.hpp>

#include "core/nn/model/byte_reader.h"
#include "core/nn/model/nn_error.h"

namespace regraft::nn {
namespace {

using nlohmann::json;

constexpr std::uint64_t kControllerMagic = 0x4C54434754464752;  // "RGFTGCTL"
constexpr std::uint32_t kControllerFormat = 1;
constexpr std::size_t kMaxManifestBytes = std::size_t{16} << 20;

}  // namespace

std::vector<std::byte> encode_controller(const ControllerFile& controller) {
  const ControllerConfig& config = controller.config;
  const std::string manifest = json{{"kind", enum_name(config.kind)},
                                    {"state", config.state},
                                    {"xfers", config.rules},
                                    {"locations", config.locations},
                                    {"width", config.width},
                                    {"query", config.query},
                                    {"training_record", json::parse(controller.training_record)}}
                                   .dump();
  Bytes bytes;
  ByteWriter out(bytes);
  out.value(kControllerMagic);
  out.value(kControllerFormat);
  out.value(static_cast<std::uint64_t>(manifest.size()));
  out.text(manifest);
  out.raw(encode_weights(controller.weights));
  return bytes;
}

ControllerFile decode_controller(std::span<const std::byte> bytes, const std::string& where) {
  internal::ByteReader in(bytes, where);
  if (in.value<std::uint64_t>() != kControllerMagic) throw NnError("is no controller", where, "");
  if (const auto format = in.value<std::uint32_t>(); format != kControllerFormat)
    throw NnError("has controller format " + std::to_string(format), where, "export it with this version");
  const auto size = in.value<std::uint64_t>();
  if (size > kMaxManifestBytes) throw NnError("has too large a manifest", where, "it is damaged");
  ControllerFile controller;
  try {
    const json manifest = json::parse(in.text(size));
    const auto kind = enum_value<ControllerKind>(manifest.at("kind").get<std::string>());
    if (!kind) throw NnError("has an unknown kind", where, "");
    controller.config = {.kind = *kind,
                         .state = manifest.at("state"),
                         .rules = manifest.at("xfers"),
                         .locations = manifest.at("locations"),
                         .width = manifest.at("width"),
                         .query = manifest.at("query")};
    controller.training_record = manifest.at("training_record").dump();
  } catch (const json::exception& error) {
    throw NnError(std::string("has a damaged manifest: ") + error.what(), where, "write it again");
  }
  controller.weights = decode_weights(in.raw(in.left()));
  if (controller.weights.tensors != weight_layout(controller.config))
    throw NnError("holds weights of another network", where, "write it again");
  return controller;
}

}
