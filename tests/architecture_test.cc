// The rules between folders: cmake/edges.txt for our own headers, the table below for the heavy outside ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "support/source_files.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;
using namespace testing;

/// An outside library by what its includes start with; the folders whose sources may use it, and those among
/// them whose headers may show it.
struct Outside {
  std::string name;
  std::vector<std::string> includes;
  Names sources, headers{};
};

const std::vector<Outside>& outside_libraries() {
  static const std::vector<Outside> libraries{
      {"LibTorch",
       {"torch/", "ATen/", "c10/"},
       {"core/exec/site", "core/exec/torch", "core/libtorch", "core/nn/training", "core/nn/inference",
        "learner/optimiser", "learner/ppo", "learner/world", "learner/controller"},
       {"core/exec/torch", "core/nn/training", "learner/optimiser", "learner/ppo", "learner/world",
        "learner/controller"}},
      {"ONNX Runtime", {"onnxruntime_"}, {"core/exec/runtime"}, {}},
      {"ONNX",
       {"onnx/"},
       {"core/onnx", "core/corpus", "core/exec/runtime", "core/exec/inputs", "core/exec/equivalence",
        "core/exec/latency", "core/exec/kernels"},
       {"core/onnx"}},
      {"ZeroMQ", {"zmq"}, {"core/wire"}, {"core/wire"}},
      {"sockets", {"sys/socket.h", "netinet/", "arpa/"}, {"core/wire"}, {}},
      {"MPI", {"mpi.h"}, {"launch/job"}, {}},
      {"CLI11", {"CLI/"}, {"launch/command"}, {}},
      {"Z3", {"z3"}, {"core/proof/smt", "core/proof/symbolic"}, {"core/proof/smt", "core/proof/symbolic"}},
      {"zlib", {"zlib.h"}, {"core/base"}, {}},
      {"liblzma", {"lzma.h"}, {"core/base"}, {}},
      {"SQLite", {"SQLiteCpp/", "sqlite3.h"}, {"core/cost"}, {}},
      {"pybind11", {"pybind11/", "Python.h"}, {"actors/python"}, {}},
  };
  return libraries;
}

bool includes_directly(const SourceFile& file, const Outside& library) {
  return std::any_of(file.includes.begin(), file.includes.end(), [&](const Include& include) {
    const auto starts = [&](const std::string& prefix) { return include.target.starts_with(prefix); };
    return !include.ours && std::any_of(library.includes.begin(), library.includes.end(), starts);
  });
}

/// What is wrong with the includes between our own folders, a line each.
std::vector<std::string> broken_edges(const SourceFile& file) {
  std::vector<std::string> broken;
  for (const Include& include : file.includes) {
    const std::string target = folder_of(include.target);
    if (include.ours && target.empty()) {
      broken.push_back(file.path + " includes \"" + include.target + "\", in no folder of edges.txt");
    } else if (!target.empty() && target != file.folder && !edges().at(file.folder).contains(target)) {
      broken.push_back(file.path + " includes " + include.target + ", but " + file.folder + " may not use " +
                       target);
    }
  }
  return broken;
}

/// Where an outside library is used in a folder that may not, or shown to other folders by a header that may
/// not.
std::vector<std::string> broken_walls(const std::vector<SourceFile>& files, const Outside& library) {
  std::vector<std::string> broken;
  Names showing;  // headers that bring the library in, themselves or through others
  for (std::size_t before = files.size() + 1; showing.size() != before;) {
    before = showing.size();
    for (const SourceFile& file : files) {
      const auto brings = [&](const Include& include) { return showing.contains(include.target); };
      const bool shows =
          includes_directly(file, library) || std::any_of(file.includes.begin(), file.includes.end(), brings);
      if (file.is_header() && shows) showing.insert(file.path);
    }
  }
  for (const SourceFile& file : files) {
    if (includes_directly(file, library) && !library.sources.contains(file.folder)) {
      broken.push_back(file.path + " uses " + library.name);
    }
    for (const Include& include : file.includes) {
      const std::string owner = folder_of(include.target);
      if (owner != file.folder && showing.contains(include.target) && !library.headers.contains(owner)) {
        broken.push_back(include.target + " shows " + library.name + " to " + file.path);
      }
    }
  }
  return broken;
}

TEST(Architecture, IncludesFollowTheEdges) {
  std::size_t seen = 0;
  for (const SourceFile& file : our_sources()) {
    ++seen;
    const bool code = file.is_header() || file.path.ends_with(".cc") || file.path.ends_with(".cu");
    if (code && file.folder != fs::path(file.path).parent_path())
      ADD_FAILURE() << file.path << ": its folder has no line in cmake/edges.txt";
    if (file.folder.empty()) continue;  // scripts and the like, of a folder of folders
    for (const std::string& broken : broken_edges(file)) ADD_FAILURE() << broken;
  }
  EXPECT_GT(seen, 20u);
}

TEST(Architecture, OutsideLibrariesStayBehindTheirWalls) {
  for (const Outside& library : outside_libraries()) {
    for (const std::string& broken : broken_walls(our_sources(), library)) ADD_FAILURE() << broken;
  }
}

TEST(Architecture, TheEdgeCheckFindsWhatIsForbidden) {
  const auto found = [](const std::string& path, const std::string& line) {
    return broken_edges(parse_source(path, "#pragma once\n" + line + "\n")).size();
  };
  EXPECT_EQ(found("core/graph/a.h", "#include \"core/base/error.h\""), 0u);
  EXPECT_EQ(found("core/graph/a.h", "#include \"core/graph/b.h\""), 0u);
  EXPECT_EQ(found("core/graph/a.h", "#include \"core/env/b.h\""), 1u);
  EXPECT_EQ(found("core/graph/a.cc", "  #  include  <core/env/b.h>"), 1u);
  EXPECT_EQ(found("core/base/a.cc", "#include \"core/graph/b.h\""), 1u);
  EXPECT_EQ(found("actors/a.h", "#include \"core/nn/model/b.h\""), 0u);
  EXPECT_EQ(found("actors/python/a.h", "#include \"core/nn/model/b.h\""), 1u) << "a folder within a folder";
  EXPECT_EQ(found("core/graph/a.h", "#include \"b.h\""), 1u);
  EXPECT_EQ(found("actors/a.cc", "#include \"core/nn/b.h\""), 1u) << "a folder of folders";
  EXPECT_EQ(found("actors/a.cc", "#include \"core/nn/fused/b.h\""), 1u) << "the kernels";
  EXPECT_EQ(found("core/nn/inference/a.cc", "#include \"core/nn/fused/b.h\""), 0u);
}

TEST(Architecture, TheWallCheckFindsWhatIsForbidden) {
  const auto found = [](const std::vector<std::pair<std::string, std::string>>& files) {
    std::vector<SourceFile> parsed;
    for (const auto& [path, include] : files)
      parsed.push_back(parse_source(path, "#include " + include + "\n"));
    std::size_t broken = 0;
    for (const Outside& library : outside_libraries()) broken += broken_walls(parsed, library).size();
    return broken;
  };
  EXPECT_EQ(found({{"core/env/a.cc", "<torch/types.h>"}}), 1u);
  EXPECT_EQ(found({{"core/nn/model/a.cc", "<torch/types.h>"}}), 1u);
  EXPECT_EQ(found({{"core/nn/inference/a.cc", "<torch/types.h>"}}), 0u);
  EXPECT_EQ(
      found({{"core/nn/inference/a.h", "<torch/types.h>"}, {"actors/b.cc", "\"core/nn/inference/a.h\""}}),
      1u);
  EXPECT_EQ(found({{"core/search/a.cc", "<zmq.hpp>"}}), 1u);
  EXPECT_EQ(found({{"learner/a.cc", "<mpi.h>"}}), 1u);
  EXPECT_EQ(found({{"launch/cli/a.cc", "<CLI/CLI.hpp>"}}), 1u);
  EXPECT_EQ(found({{"launch/command/a.cc", "<CLI/CLI.hpp>"}}), 0u);
  EXPECT_EQ(
      found({{"core/exec/site/a.h", "<ATen/ATen.h>"}, {"core/exec/site/b.cc", "\"core/exec/site/a.h\""}}),
      0u);
  EXPECT_EQ(found({{"core/exec/site/a.h", "<ATen/ATen.h>"},
                   {"core/exec/site/b.h", "\"core/exec/site/a.h\""},
                   {"launch/cli/c.cc", "\"core/exec/site/b.h\""}}),
            1u);
}

TEST(Architecture, EdgesNameKnownFoldersAndHaveNoCycle) {
  Names done;
  for (std::size_t before = edges().size() + 1; done.size() != before;) {
    before = done.size();
    for (const auto& [folder, targets] : edges()) {
      for (const std::string& target : targets)
        EXPECT_TRUE(edges().contains(target)) << folder << ": " << target;
      if (std::includes(done.begin(), done.end(), targets.begin(), targets.end())) done.insert(folder);
    }
  }
  EXPECT_EQ(done.size(), edges().size()) << "some folders depend on each other in a circle";
}

TEST(Architecture, AnIncludeFollowsEachEdge) {
  std::map<std::string, Names> followed;
  for (const SourceFile& file : our_sources())
    for (const Include& include : file.includes) followed[file.folder].insert(folder_of(include.target));
  for (const auto& [folder, targets] : edges()) {
    for (const std::string& target : targets)
      EXPECT_TRUE(followed[folder].contains(target))
          << folder << " includes nothing of " << target << ": take it out of cmake/edges.txt";
  }
}

TEST(Architecture, NoFileIsLongerThanALimit) {
  constexpr std::size_t most_lines = 400;
  for (const SourceFile& file :
       sources_under({"core", "replay", "actors", "learner", "launch", "configs", "tests", "cmake"})) {
    EXPECT_LE(file.lines, most_lines) << file.path << ": a longer file is two concepts";
  }
}

TEST(Architecture, TheTreeIsSmallWithoutItsModels) {
  constexpr std::uintmax_t most_bytes = 8'000'000;
  std::uintmax_t bytes = 0;
  for (const char* folder : {"core", "replay", "actors", "learner", "launch", "configs", "tests", "cmake"}) {
    for (auto entry = fs::recursive_directory_iterator(root() / folder); entry != fs::end(entry); ++entry) {
      const std::string name = fs::relative(entry->path(), root()).string();
      if (name == "tests/models" || name.ends_with("__pycache__")) entry.disable_recursion_pending();
      if (entry->is_regular_file()) bytes += entry->file_size();
    }
  }
  EXPECT_LT(bytes, most_bytes) << "pack what is large, or leave out what no page quotes";
  EXPECT_GT(bytes, most_bytes / 2) << "not all was seen";
}

TEST(Architecture, CommentsDoNotBeginWithOf) {
  for (const SourceFile& file :
       sources_under({"core", "replay", "actors", "learner", "launch", "configs", "tests", "cmake"})) {
    const std::string text = read_file(root() / file.path);
    for (const std::string mark : {"//", "#"})
      EXPECT_EQ(text.find(mark + " Of "), text.npos) << file.path << ": say what it is: \"The sum of ...\"";
  }
}

// Elsewhere raw_data would be contents where readers look for a placeholder (core/onnx/payload.h).
TEST(Architecture, ContentsOfTensorsAreSetAndReadInOnePlace) {
  const std::regex use("(^|[.>])((set|mutable)_)?raw_data\\(");
  for (const auto& entry : fs::directory_iterator(root() / "core/onnx")) {
    const std::string name = entry.path().filename().string();
    if (name == "payload.h" || name == "payload.cc" || !name.ends_with(".cc")) continue;
    EXPECT_FALSE(std::regex_search(read_file(entry.path()), use)) << name;
  }
}

/// Numbers of the lines of a page that are too long to read. Tables may be wider, and code: between fences,
/// or indented by four spaces from a blank line on.
std::vector<std::size_t> long_lines(const std::string& page) {
  constexpr std::size_t most_characters = 120;
  static const std::regex table("^ *\\|");
  std::vector<std::size_t> numbers;
  std::istringstream lines(page);
  bool fenced = false, indented = false, after_blank = true;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```")) fenced = !fenced;
    indented = line.starts_with("    ") && (indented || after_blank);
    after_blank = line.empty();
    const bool wide = fenced || indented || std::regex_search(line, table);
    if (line.size() > most_characters && !wide) numbers.push_back(number);
  }
  return numbers;
}

TEST(Architecture, PagesHaveShortLines) {
  std::size_t pages = 0;
  const auto check = [&](const fs::path& path) {
    ++pages;
    for (const std::size_t number : long_lines(read_file(path)))
      ADD_FAILURE() << fs::relative(path, root()).string() << ":" << number
                    << " has more than 120 characters";
  };
  check(root() / "README.md");
  for (const char* folder : {"core", "replay", "actors", "learner", "launch", "configs", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root() / folder))
      if (entry.is_regular_file() && entry.path().extension() == ".md") check(entry.path());
  }
  EXPECT_GT(pages, 20u);
}

TEST(Architecture, TheCheckOfPagesFindsALongLine) {
  const std::string wide(121, 'x');
  EXPECT_THAT(long_lines("a\n" + wide + "\n" + wide.substr(1) + "\n"), ::testing::ElementsAre(2u));
  EXPECT_THAT(
      long_lines("\n    a\n    " + wide + "\n| " + wide + "\n   | " + wide + "\n```\n" + wide + "\n```\n"),
      ::testing::IsEmpty());
  EXPECT_THAT(long_lines("```\n```\n  " + wide + "\n"), ::testing::ElementsAre(3u));
  EXPECT_THAT(long_lines("- a\n    " + wide + "\n"), ::testing::ElementsAre(2u)) << "text that goes on";
}

TEST(Architecture, TheProjectsReadmeIsShort) {
  const std::string text = read_file(root() / "README.md");
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 150) << "the rest belongs into launch/docs";
}

/// The folder that holds the README for a folder of edges.txt: itself, or the one that it is a part of.
std::string described_in(const std::string& folder) {
  return fs::exists(root() / folder / "README.md") ? folder : fs::path(folder).parent_path().string();
}

TEST(Architecture, EachFolderHasAReadmeOrIsNamedInItsParents) {
  for (const auto& [folder, targets] : edges()) {
    const fs::path readme = root() / described_in(folder) / "README.md";
    ASSERT_TRUE(fs::exists(readme)) << folder;
    const std::string text = read_file(readme);
    const auto lines = std::count(text.begin(), text.end(), '\n');
    EXPECT_TRUE(lines >= 20 && lines <= 60) << readme << " has " << lines << " lines, not 20 to 60";
    if (described_in(folder) == folder) continue;
    const std::string name = fs::path(folder).filename().string();
    EXPECT_NE(text.find("| " + name + " |"), std::string::npos) << readme << " has no row for " << name;
  }
}

}  // namespace
}
