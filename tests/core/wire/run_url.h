#pragma once

#include <zmq.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

#include "core/wire/run_info.h"

namespace regraft::wire::testing_support {

/// A key of Z85 in 64 hex digits.
inline std::string hex_of(const std::string& key) {
  std::array<std::uint8_t, 32> bytes{};
  zmq_z85_decode(bytes.data(), key.c_str());
  std::string hex;
  for (const std::uint8_t byte : bytes) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", byte);
    hex += digits.data();
  }
  return hex;
}

/// What RunInfo::from_url() reads.
inline std::string url_of(const RunInfo& info) {
  return "regraft://" + info.tcp.substr(info.tcp.find("//") + 2) + "/" + info.run_id +
         "?generation=" + std::to_string(info.generation) +
         (info.server_key.empty() ? "" : "&key=" + hex_of(info.server_key));
}

}
