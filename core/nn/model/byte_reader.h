#pragma once

#include "core/base/bytes.h"
#include "core/nn/model/nn_error.h"

namespace regraft::nn::internal {

/// Throws NnError.
class ByteReader : public regraft::ByteReader<NnError> {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string_view where)
      : regraft::ByteReader<NnError>(bytes, where, "the data is truncated: write it again") {}
};

}
