// Where types are defined, and which files include each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/source_files.h"

namespace regraft {
namespace {

using namespace testing;

/// Classes whose member functions more than one file defines, a line each.
std::vector<std::string> scattered_classes(const std::vector<SourceFile>& files) {
  std::map<std::string, std::string> seen;
  std::vector<std::string> scattered;
  for (const SourceFile& file : files) {
    for (const std::string& name : file.classes) {
      const auto [at, fresh] = seen.try_emplace(name, file.path);
      if (!fresh) scattered.push_back(name + " is defined in " + at->second + " and in " + file.path);
    }
  }
  return scattered;
}

/// Header pairs (x.h with x.cc), and those whose headers they include.
using Pairs = std::map<std::string, Names>;

Pairs pairs_of(const std::vector<SourceFile>& files) {
  const auto pair_of = [](const std::string& path) { return path.substr(0, path.rfind('.')); };
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

TEST(Definitions, NoTwoHeadersDefineATypeOfOneName) {
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

TEST(Definitions, AClassIsDefinedInOneFile) {
  for (const std::string& broken : scattered_classes(our_sources()))
    ADD_FAILURE() << broken << ": a class that does not fit is two concepts";
  std::size_t classes = 0;
  for (const SourceFile& file : our_sources()) classes += file.classes.size();
  EXPECT_GT(classes, 100u);
}

TEST(Definitions, TheCheckOfClassesFindsWhatIsScattered) {
  const auto found = [](const std::string& one, const std::string& other) {
    const auto parsed = [](const std::string& path, const std::string& text) {
      return parse_source(path, "namespace a {\n" + text + "\n}  // namespace a\n");
    };
    return scattered_classes({parsed("core/base/x.cc", one), parsed("core/base/y.cc", other)}).size();
  };
  EXPECT_EQ(found("void C::f() {\n}", "C::C(int a) : a_(a) {}"), 1u);
  EXPECT_EQ(found("bool C::operator==(const C& c) const {\n}", "C::~C() {}"), 1u);
  EXPECT_EQ(found("std::vector<C::Part> C::parts(int) {", "C::Part C::part(\n    int a) {"), 1u);
  EXPECT_EQ(found("void C::State::f() {\n}", "b::D& C::State::g() {"), 1u);
  EXPECT_EQ(found("void C::State::f() {\n}", "void D::State::f() {\n}"), 0u) << "two types";
  EXPECT_EQ(found("void C::f() {\n}", "void D::f(C::Part part) {\n  C::f();\n}"), 0u) << "a use";
  EXPECT_EQ(found("void C::f() {\n}", "namespace b {\nvoid C::f() {\n}\n}"), 0u) << "another namespace";
  EXPECT_EQ(found("void C::f() {\n}", "namespace {\nvoid C::f() {\n}\n}  // namespace"), 0u);
}

}  // namespace
}  // namespace regraft
