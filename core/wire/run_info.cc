#include "core/wire/run_info.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/json_integer.h"
#include "core/base/temporary_folder.h"
#include "core/wire/keys.h"

namespace regraft::wire {
namespace {

namespace fs = std::filesystem;

constexpr int kSchema = 2;
constexpr std::string_view kUrlScheme = "regraft://";
constexpr std::string_view kTcp = "tcp://";
constexpr std::string_view kIpc = "ipc://";
constexpr std::size_t kMaxIpcPathBytes = 107;  // sockaddr_un

[[noreturn]] void malformed(const std::string& what, const std::string& where) {
  throw WireError(WireFault::kMalformed, what, where,
                  "take the run file that the learner of this run has written");
}

[[noreturn]] void bad_address(const std::string& what, std::string_view where, const std::string& remedy) {
  throw WireError(WireFault::kAddress, what, std::string(where), remedy);
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

void check(const RunInfo& info, const std::string& where) {
  if (info.run_id.empty()) malformed("it names no run", where);
  if (info.tcp.empty() && info.ipc.empty()) malformed("it holds no endpoint", where);
  if (!info.tcp.empty()) check_endpoint(info.tcp);
  if (!info.ipc.empty()) check_endpoint(info.ipc);
  if (!info.server_key.empty() && !is_key(info.server_key)) malformed("the server's key is no key", where);
}

// "a=1&b=2": calls use(name, value) for each.
template <class Use>
void each_parameter(std::string_view query, const Use& use) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    use(pair.substr(0, equals), pair.substr(std::min(pair.size(), equals + 1)));
  }
}

}  // namespace

std::string RunInfo::to_json() const {
  const nlohmann::ordered_json json{
      {"schema", kSchema},
      {"run_id", run_id},
      {"generation", generation},
      {"host", host},
      {"machine", machine},
      {"tcp", tcp},
      {"ipc", ipc},
      {"security", server_key.empty() ? "plain" : "curve"},
      {"server_key", server_key},
  };
  return json.dump(2) + "\n";
}

RunInfo RunInfo::from_json(std::string_view text, const std::string& where) {
  RunInfo info;
  try {
    const auto json = nlohmann::json::parse(text);
    if (json_integer<int>(json.at("schema")) != kSchema)
      malformed("it is of another version of regraft", where);
    json.at("run_id").get_to(info.run_id);
    json.at("generation").get_to(info.generation);
    json.at("host").get_to(info.host);
    json.at("machine").get_to(info.machine);
    json.at("tcp").get_to(info.tcp);
    json.at("ipc").get_to(info.ipc);
    json.at("server_key").get_to(info.server_key);
    // A key that was lost on the way must not turn a secured run into a plain one.
    if ((json.at("security").get<std::string>() == "plain") != info.server_key.empty()) {
      malformed("its security and its server key contradict each other", where);
    }
  } catch (const nlohmann::json::exception& error) {
    malformed(std::string("not a run file: ") + error.what(), where);
  }
  check(info, where);
  return info;
}

RunInfo RunInfo::from_url(std::string_view url) {
  const std::string where(url);
  if (!url.starts_with(kUrlScheme)) malformed("not a URL of a run", where);
  url.remove_prefix(kUrlScheme.size());
  const std::size_t slash = url.find('/');
  if (slash == std::string_view::npos) malformed("the URL names no run", where);
  RunInfo info;
  info.tcp = std::string(kTcp) + std::string(url.substr(0, slash));
  const std::string_view rest = url.substr(slash + 1);
  const std::size_t question = std::min(rest.find('?'), rest.size());
  info.run_id = std::string(rest.substr(0, question));
  each_parameter(rest.substr(std::min(rest.size(), question + 1)),
                 [&](std::string_view name, std::string_view value) {
                   if (name == "key") {
                     info.server_key = key_from_hex(value);
                   } else if (const auto g = number<std::uint64_t>(value); name == "generation" && g) {
                     info.generation = *g;
                   } else {
                     malformed("the URL's parameter '" + std::string(name) + "' is not understood", where);
                   }
                 });
  check(info, where);
  return info;
}

void RunInfo::save(const fs::path& path) const {
  write_file_atomic(path, to_json());
}

RunInfo RunInfo::load(const fs::path& path) {
  return from_json(read_file(path), path.string());
}

RunInfo RunInfo::from_url_or_file(const std::string& text) {
  return text.starts_with(kUrlScheme) ? from_url(text) : load(text);
}

void RunInfo::add_endpoint(const std::string& bound) {
  if (!bound.starts_with(kTcp)) {
    ipc = bound;
    return;
  }
  const std::string of = host_of(bound);
  const bool any = of == "0.0.0.0" || of == "[::]" || of == "*";
  tcp = std::string(kTcp) + (any ? host : of) + ":" + std::to_string(port_of(bound));
}

std::string RunInfo::endpoint_from(std::string_view from_machine) const {
  const bool here = machine == from_machine;
  if (!ipc.empty() && here && fs::exists(ipc.substr(kIpc.size()))) return ipc;
  if (!tcp.empty()) return tcp;
  bad_address("the learner on " + machine + " cannot be reached from " + std::string(from_machine), ipc,
              here ? "is the learner running?" : "let the learner bind a tcp endpoint");
}

std::string make_run_id() {
  std::random_device random;
  return hash_text(std::to_string(::getpid()), (std::uint64_t{random()} << 32) | random())
      .hex()
      .substr(0, 16);
}

std::string own_host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::string own_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  return own_host_name() + "/" + boot;
}

std::string own_network() {
  std::error_code unknown;
  return own_machine() + "/" + fs::read_symlink("/proc/self/ns/net", unknown).string();
}

std::string default_ipc_endpoint(std::string_view run_id) {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  fs::path folder = runtime != nullptr && fs::is_directory(runtime) ? fs::path(runtime) : temporary_folder();
  const std::string name = "regraft-" + std::string(run_id) + ".ipc";
  if ((folder / name).string().size() + 16 > kMaxIpcPathBytes) folder = "/tmp";
  return std::string(kIpc) + (folder / name).string();
}

void check_endpoint(const std::string& endpoint) {
  if (endpoint.starts_with(kIpc)) {
    const std::string path = endpoint.substr(kIpc.size());
    if (!path.starts_with('/')) bad_address("the path of an ipc endpoint is not absolute", endpoint, "");
    if (path.size() > kMaxIpcPathBytes) {
      bad_address(
          "the path of an ipc endpoint has " + std::to_string(path.size()) + " bytes, 107 are possible",
          endpoint, "choose a shorter one, under /tmp say");
    }
    return;
  }
  if (!endpoint.starts_with(kTcp)) bad_address("neither tcp:// nor ipc://", endpoint, "");
  const std::size_t colon = endpoint.rfind(':');
  const std::string port = endpoint.substr(colon + 1);
  const bool good_port = port == "*" || number<std::uint16_t>(port).has_value();
  if (colon <= kTcp.size() || !good_port) {
    bad_address("not of the form tcp://HOST:PORT", endpoint, "ports go from 1 to 65535; * takes a free one");
  }
}

bool is_loopback(std::string_view endpoint) {
  if (endpoint.starts_with(kIpc)) return true;
  const std::string host = host_of(endpoint);
  in_addr address{};
  if (::inet_pton(AF_INET, host.c_str(), &address) == 1) return (ntohl(address.s_addr) >> 24) == 127;
  return host == "localhost" || host == "[::1]";
}

std::string host_of(std::string_view tcp_endpoint) {
  const std::size_t colon = tcp_endpoint.rfind(':');
  return std::string(tcp_endpoint.substr(kTcp.size(), colon - kTcp.size()));
}

std::uint16_t port_of(std::string_view tcp_endpoint) {
  return number<std::uint16_t>(tcp_endpoint.substr(tcp_endpoint.rfind(':') + 1)).value_or(0);
}

}
