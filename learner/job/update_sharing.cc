#include "learner/job/update_sharing.h"

#include <cstdint>
#include <utility>

#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/wire/wire_error.h"
#include "replay/rollout/byte_reader.h"

namespace regraft::learner {
namespace {

using replay::ByteReader;
using replay::ByteWriter;

/// What a message of the first learner is.
enum class Word : std::uint8_t { state, update, end };

std::uint64_t hash_of(const Replica& replica) {
  const std::vector<float> values = replica.values();
  return hash_bytes(std::as_bytes(std::span(values))).low;
}

void say_end(wire::Group& group) {
  try {
    group.share({static_cast<std::byte>(Word::end)});
  } catch (const wire::WireError& error) {  // who has died meanwhile learns it from the run folder
    log_warning("{}", error.what());
  }
}

}  // namespace

UpdateSharing::UpdateSharing(Replica& replica, JoinLearners join)
    : replica_(replica), join_(std::move(join)) {}

void UpdateSharing::begin(const MakeBytes& state) {
  if (!join_ || group_) return;
  group_ = join_();
  replica_.share_with(group_);
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.value(Word::state);
  out.raw(state());
  group_->share(std::move(bytes));
}

void UpdateSharing::tell(const MakeBytes& data) const {
  if (!group_) return;
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  out.value(Word::update);
  out.value(hash_of(replica_));
  out.raw(data());
  group_->share(std::move(bytes));
}

std::function<void()> UpdateSharing::farewell() const {
  if (!group_) return {};
  return [group = group_] { say_end(*group); };
}

void follow_updates(const JoinLearners& join, Replica& replica) {
  const std::shared_ptr<wire::Group> group = join();
  replica.share_with(group);
  for (;;) {
    const std::vector<std::byte> bytes = group->share({});
    ByteReader in(bytes);
    const auto word = in.value<Word>();
    if (word == Word::end) return;
    if (word == Word::state) {
      replica.restore(in.raw(in.left()));
      continue;
    }
    if (in.value<std::uint64_t>() != hash_of(replica))
      throw wire::WireError(wire::WireFault::kMisuse, "its weights are not those of the first learner",
                            "learner", "start all learners on machines alike");
    replica.follow(in.raw(in.left()));
  }
}

}
