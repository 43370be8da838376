// Where types are defined, and which files include each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/source_files.h"

namespace regraft {
namespace {

using namespace testing;

/// Header pairs (x.h with x.cc), and those whose headers they include.
using Pairs = std::map<std::string, Names>;

std::string pair_of(const std::string& path) {
  return path.substr(0, path.rfind('.'));
}

Pairs pairs_of(const std::vector<SourceFile>& files) {
  Pairs pairs;
  for (const SourceFile& file : files) {
    if (!file.path.ends_with(".h") && !file.path.ends_with(".cc")) continue;
    Names& includes = pairs[pair_of(file.path)];
    for (const Include& include : file.includes)
      if (include.ours && pair_of(include.target) != pair_of(file.path))
        includes.insert(pair_of(include.target));
  }
  return pairs;
}

/// What is left when pairs that include none of the others, or that none of them includes, are taken away
/// until there are no more: circles, and what lies between them.
Names in_circles(Pairs pairs) {
  for (std::size_t before = pairs.size() + 1; pairs.size() != before;) {
    before = pairs.size();
    Names included;
    for (auto& [pair, includes] : pairs) {
      std::erase_if(includes, [&](const std::string& other) { return !pairs.contains(other); });
      included.insert(includes.begin(), includes.end());
    }
    std::erase_if(pairs,
                  [&](const auto& entry) { return entry.second.empty() || !included.contains(entry.first); });
  }
  Names left;
  for (const auto& [pair, includes] : pairs) left.insert(pair);
  return left;
}

/// Where x.cc defines member functions of a class that neither it nor x.h defines, a line each.
std::vector<std::string> strays(const std::vector<SourceFile>& files) {
  std::map<std::string, Names> types;
  for (const SourceFile& file : files)
    for (const std::string& type : file.types)
      types[pair_of(file.path)].insert(type.substr(type.rfind(' ') + 1));
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    for (const std::string& name : file.classes) {
      const std::string nested = name.substr(name.rfind(' ') + 1), outer = nested.substr(0, nested.find(':'));
      if (!types[pair_of(file.path)].contains(outer))
        found.push_back(file.path + " defines members of " + outer);
    }
  }
  return found;
}

/// EventWriter and event_writer have the words {"event", "writer"}.
Names words_of(const std::string& name) {
  Names words;
  std::string word;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    const bool begins = i < name.size() && std::isupper(static_cast<unsigned char>(name[i])) != 0;
    const bool ends =
        i == name.size() || name[i] == '_' ||
        (begins && i + 1 < name.size() && std::islower(static_cast<unsigned char>(name[i + 1])));
    if (ends && !word.empty()) words.insert(std::exchange(word, {}));
    if (i < name.size() && name[i] != '_')
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return words;
}

/// What a header that declares one type, or one other name, is to be named for and is not; else "".
std::string missing_name(const SourceFile& header) {
  if (header.types.size() + header.names.size() != 1) return "";
  const Names file = words_of(fs::path(header.path).stem());
  if (header.types.empty()) {
    const std::string& name = *header.names.begin();
    return std::ranges::includes(words_of(name), file) ? "" : name;
  }
  const std::string type = header.types[0].substr(header.types[0].rfind(' ') + 1);
  return words_of(type) == file ? "" : type;
}

TEST(Definitions, AHeaderOfOneTypeOrFunctionBearsItsName) {
  for (const SourceFile& file : our_sources()) {
    if (!file.is_header()) continue;
    EXPECT_EQ(missing_name(file), "") << "is what " << file.path << " declares, and nothing else: name it so";
  }
  const auto found = [](const std::string& path, const std::string& text) {
    return missing_name(parse_source(path, "namespace a {\n" + text));
  };
  EXPECT_EQ(found("core/base/tensorboard.h", "class EventWriter {\n};"), "EventWriter");
  EXPECT_EQ(found("core/base/event_writer.h", "class EventWriter {\n};"), "");
  EXPECT_EQ(found("core/base/writer.h", "class EventWriter {\n};"), "EventWriter");
  EXPECT_EQ(found("core/search/taso.h", "std::unique_ptr<Search> make_taso(TasoOptions options);"), "");
  EXPECT_EQ(found("core/graph/counts.h", "OpCounts count_ops(int a,\n                  int b);"),
            "count_ops");
  EXPECT_EQ(found("core/graph/counts.h", "int f();\nint g();"), "") << "two names";
}

TEST(Definitions, HeaderPairsIncludeEachOtherInNoCircle) {
  EXPECT_THAT(in_circles(pairs_of(our_sources())), ::testing::IsEmpty());

  const auto found = [](const std::vector<std::pair<std::string, std::string>>& files) {
    std::vector<SourceFile> parsed;
    for (const auto& [path, include] : files)
      parsed.push_back(parse_source(path, "#include \"" + include + "\"\n"));
    return in_circles(pairs_of(parsed));
  };
  EXPECT_THAT(found({{"a/x.h", "a/y.h"}, {"a/y.cc", "a/x.h"}, {"a/z.h", "a/x.h"}}),
              ::testing::ElementsAre("a/x", "a/y"));
  EXPECT_THAT(found({{"a/x.h", "a/y.h"}, {"a/x.cc", "a/x.h"}, {"a/y.h", "a/z.h"}}), ::testing::IsEmpty());
}

TEST(Definitions, NoTwoFilesDefineATypeOfOneName) {
  std::map<std::string, std::string> seen;
  for (const SourceFile& file : our_sources()) {
    for (const std::string& type : file.types) {
      const auto [at, fresh] = seen.try_emplace(type, file.path);
      EXPECT_TRUE(fresh) << type << " is defined in " << at->second << " and in " << file.path
                         << ": the linker mixes their functions up without a word";
    }
  }
  EXPECT_GT(seen.size(), 100u);
  const SourceFile parsed =
      parse_source("core/base/x.h",
                   "namespace a::b {\nstruct C {\n};\nclass D final : public C {\nstruct E;\n  struct F {\n");
  EXPECT_EQ(parsed.types, (std::vector<std::string>{"a::b C", "a::b D"}));
}

TEST(Definitions, MembersAreDefinedBesideTheHeaderOfTheirClass) {
  for (const std::string& stray : strays(our_sources()))
    ADD_FAILURE() << stray << ", whose class stands elsewhere: X is defined in x.cc, and declared in x.h";
  std::size_t classes = 0;
  for (const SourceFile& file : our_sources()) classes += file.classes.size();
  EXPECT_GT(classes, 100u);
}

TEST(Definitions, TheCheckOfMembersFindsAStray) {
  const auto found = [](const std::string& path, const std::string& text) {
    const auto parsed = [](const std::string& at, const std::string& inside) {
      return parse_source(at, "namespace a {\n" + inside + "\n}  // namespace a\n");
    };
    return strays({parsed("core/base/x.h", "class C final : public B {\n};"), parsed(path, text)}).size();
  };
  const std::vector<std::string> members{"void C::f() {\n}",
                                         "C::C(int a) : a_(a) {}",
                                         "C::~C() {}",
                                         "bool C::operator==(const C& c) const {\n}",
                                         "std::vector<C::Part> C::parts(int) {",
                                         "C::Part C::part(\n    int a) {",
                                         "b::D& C::State::g() {"};
  for (const std::string& member : members) {
    EXPECT_EQ(found("core/base/x.cc", member), 0u) << member;
    EXPECT_EQ(found("core/base/y.cc", member), 1u) << member;
    EXPECT_EQ(found("core/graph/x.cc", member), 1u) << member << ": of another folder";
    EXPECT_EQ(found("core/base/y.cc", "class C {\n};\n" + member), 0u) << member << ": of its own";
    EXPECT_EQ(found("core/base/y.cc", "class C;\n" + member), 1u) << member;
    EXPECT_EQ(found("core/base/y.cc", "namespace {\n" + member + "\n}  // namespace"), 0u) << member;
  }
  EXPECT_EQ(found("core/base/y.cc", "void f(C::Part part) {\n  C::f();\n}"), 0u) << "a use";
}

}  // namespace
}
