#include "replay/dream/dream_work.h"

#include <algorithm>
#include <string>

#include "core/base/rng.h"
#include "replay/rollout/checked.h"

namespace regraft::replay {
namespace {

constexpr std::uint32_t kWorkMagic = 0x4B525744;     // "DWRK"
constexpr std::uint32_t kReturnsMagic = 0x4E545244;  // "DRTN"

constexpr std::uint32_t kRefusedMagic = 0x44465242;  // "BRFD"

constexpr char kDreams[] = "dreams";

}  // namespace

Bytes encode_work(const DreamWork& work) {
  Bytes bytes;
  if (work.empty()) return bytes;
  ByteWriter out(bytes);
  out.value(kWorkMagic);
  out.varint(work.individuals.size());
  for (const std::vector<float>& individual : work.individuals) put_floats(out, individual);
  const Bytes branches = encode_branches(work.branches);
  out.varint(branches.size());
  out.raw(branches);
  return bytes;
}

DreamWork decode_work(std::span<const std::byte> bytes) {
  DreamWork work;
  if (bytes.empty()) return work;
  ByteReader in(bytes);
  require(in.value<std::uint32_t>() == kWorkMagic, "this is no work for actors", kDreams);
  work.individuals.resize(in.count());
  for (std::vector<float>& individual : work.individuals) individual = take_floats(in, kDreams);
  work.branches = decode_branches(in.raw(in.count()));
  in.finish();
  return work;
}

Bytes encode_returns(const DreamReturns& returns) {
  Bytes bytes;
  ByteWriter out(bytes);
  out.value(kReturnsMagic);
  for (const std::uint64_t figure :
       {returns.ticket, returns.generation, returns.weight_version, returns.sequence, returns.steps})
    out.value(figure);
  put_floats(out, returns.returns);
  return bytes;
}

DreamReturns decode_returns(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  require(in.value<std::uint32_t>() == kReturnsMagic, "these are no returns", kDreams);
  DreamReturns returns;
  for (std::uint64_t* figure :
       {&returns.ticket, &returns.generation, &returns.weight_version, &returns.sequence, &returns.steps})
    *figure = in.value<std::uint64_t>();
  returns.returns = take_floats(in, kDreams);
  in.finish();
  require(!returns.returns.empty(), "no episode was played", kDreams);
  return returns;
}

Bytes encode_refused_bundle() {
  Bytes bytes;
  ByteWriter(bytes).value(kRefusedMagic);
  return bytes;
}

bool is_refused_bundle(std::span<const std::byte> bytes) {
  return std::ranges::equal(bytes, encode_refused_bundle());
}

DreamReturns measure_returns(nn::Dream& dream, nn::DreamPlayer& player,
                             std::span<const nn::DreamStart> starts, std::uint64_t seed) {
  const auto replicas = static_cast<std::uint32_t>(starts.size());
  for (std::uint32_t replica = 0; replica < replicas; ++replica) {
    const std::uint64_t own = Rng(seed, "episode " + std::to_string(replica)).next();
    dream.reset(replica, starts[replica], own);
    player.reset(replica, own);
  }
  DreamReturns measured;
  std::vector<double> returns(replicas, 0.0);
  for (;;) {
    std::vector<std::uint32_t> running;
    for (std::uint32_t replica = 0; replica < replicas; ++replica)
      if (!dream.done(replica)) running.push_back(replica);
    if (running.empty()) break;
    player.choose(nn::ActionSelection::drawn);
    const std::span<const nn::DreamStep> results = dream.step(player.actions());
    for (const std::uint32_t replica : running) returns[replica] += results[replica].reward;
    measured.steps += running.size();
  }
  measured.returns.assign(returns.begin(), returns.end());
  return measured;
}

}
