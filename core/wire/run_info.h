#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/wire/wire_error.h"

namespace regraft::wire {

/// How to reach a learner and how to know it: what MPI broadcasts, what the run file holds, what `--join`
/// takes. Nothing in it is secret. An empty server key says plain transport.
struct RunInfo {
  std::string run_id;
  std::uint64_t generation = 0;
  std::string host;     // name of where the learner runs
  std::string machine;  // the same, as own_machine() has it: actors there use ipc
  std::string tcp;      // endpoint tcp://HOST:PORT, or empty
  std::string ipc;      // endpoint ipc://PATH, or empty
  std::string server_key;

  bool operator==(const RunInfo&) const = default;

  /// An endpoint that is bound on this host: one that is bound to all interfaces is reached by its name.
  void add_endpoint(const std::string& bound);

  std::string to_json() const;
  /// Throws WireError(kMalformed); `where` names the source in it.
  static RunInfo from_json(std::string_view text, const std::string& where);

  /// regraft://HOST:PORT/RUN_ID?generation=G&key=HEX, of the tcp endpoint; the key is left out on plain
  /// transport.
  static RunInfo from_url(std::string_view url);

  /// The run file, written atomically.
  void save(const std::filesystem::path& path) const;
  static RunInfo load(const std::filesystem::path& path);
  /// A URL or the path of a run file.
  static RunInfo from_url_or_file(const std::string& text);

  /// ipc if `machine` is the learner's and its socket exists, else tcp. Throws WireError(kAddress) if there
  /// is neither.
  std::string endpoint_from(std::string_view from_machine) const;
};

/// 16 random hex digits.
std::string make_run_id();
std::string own_host_name();
/// The host's name and what its kernel drew when it booted: no other machine has it, whatever it is called.
std::string own_machine();
/// Another one in each container that has a network of its own: processes with the same one hear each other
/// on loopback.
std::string own_network();

/// A short path for a run's ipc socket: socket paths are limited to 107 bytes, run folders are not.
std::string default_ipc_endpoint(std::string_view run_id);

/// Throws WireError(kAddress) unless the endpoint is tcp://HOST:PORT with a port in range or '*', or ipc://
/// with a path that is absolute and short enough.
void check_endpoint(const std::string& endpoint);
/// Plain transport is allowed only where no other machine hears it: ipc, and tcp on loopback.
bool is_loopback(std::string_view endpoint);
/// Host and port of a checked tcp endpoint; port 0 for '*'.
std::string host_of(std::string_view tcp_endpoint);
std::uint16_t port_of(std::string_view tcp_endpoint);

}
