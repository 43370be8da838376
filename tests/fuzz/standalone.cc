// The main program of a fuzzer where libFuzzer is not: runs inputs as they are, then seeded mutations of
// them.
//   NAME_fuzz RUNS FOLDER          the files of FOLDER, then RUNS mutations
//   NAME_fuzz RUNS FOLDER NUMBER   that mutation alone, written to standard output first
// Where a run dies, its number is the last thing said.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/rng.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using regraft::Rng;

constexpr std::size_t kLongest = 4096;

volatile std::sig_atomic_t current = -1;  // the mutation that runs; -1: an input as it is

extern "C" void say_where(int signal) {
  std::array<char, 64> text{};
  const int size =
      std::snprintf(text.data(), text.size(), "died in mutation %d\n", static_cast<int>(current));
  if (write(STDERR_FILENO, text.data(), static_cast<std::size_t>(size)) < 0) _exit(1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::size_t place_in(const std::string& text, Rng& rng) {
  return rng.below(text.size() + 1);
}

/// A piece of another input, or of this one.
std::string piece_of(const std::string& from, Rng& rng) {
  const std::size_t at = place_in(from, rng);
  return from.substr(at, 1 + rng.below(32));
}

void mutate(std::string& text, const std::vector<std::string>& inputs, Rng& rng) {
  const std::size_t at = place_in(text, rng);
  switch (rng.below(7)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << rng.below(8)));
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(rng.below(256));
      break;
    case 2:
      text.erase(at, 1 + rng.below(16));
      break;
    case 3:
      text.insert(at, 1 + rng.below(4), static_cast<char>(rng.below(256)));
      break;
    case 4:
      text.insert(at, piece_of(text, rng));
      break;
    case 5:
      text.insert(at, piece_of(inputs[rng.below(inputs.size())], rng));
      break;
    default: {
      const std::string piece = piece_of(inputs[rng.below(inputs.size())], rng);
      text.replace(at, piece.size(), piece);
      break;
    }
  }
  if (text.size() > kLongest) text.resize(kLongest);
}

std::string mutation(int number, const std::vector<std::string>& inputs) {
  Rng rng(static_cast<std::uint64_t>(number), "fuzz");
  std::string text = inputs[rng.below(inputs.size())];
  for (std::size_t left = 1 + rng.below(8); left > 0; --left) mutate(text, inputs, rng);
  return text;
}

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const auto& file : files) inputs.push_back(regraft::read_file(file));
  if (inputs.empty()) return 2;
  if (argc > 3) {
    const std::string text = mutation(std::atoi(argv[3]), inputs);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    run(text);
    return 0;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(signal, say_where);
  for (const std::string& input : inputs) run(input);
  const int runs = std::atoi(argv[1]);
  for (int number = 0; number < runs; ++number) {
    current = number;
    run(mutation(number, inputs));
  }
  std::printf("%zu inputs, %d mutations\n", inputs.size(), runs);
  return 0;
}
