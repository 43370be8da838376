#include <gmock/gmock.h>

#include <limits>

#include "core/exec/equivalence/check_equivalence.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::ModelBuilder;
using ::testing::Not;

class OutputsThatJump : public ::testing::Test {
 protected:
  EquivalenceReport check(const ModelBuilder& a, const ModelBuilder& b,
                          const std::vector<SymbolSizes>& points = {},
                          double probe_s = std::numeric_limits<double>::infinity()) {
    return check_equivalence(a.write(folder_ / "a.onnx"), b.write(folder_ / "b.onnx"),
                             {.points = points, .draws = 4, .probe_s = probe_s});
  }
  testing::TempFolder folder_;
};

// 1 where the first of three numbers is smaller than the others, or not larger. Where all are equal, noise
// decides: about one of 8 draws gives 1.
TEST_F(OutputsThatJump, AJumpThatNoiseMakesTooIsNoDifference) {
  const auto step = [](const char* order, float if_equal) {
    ModelBuilder model;
    model.opset(12).input("x", {3}).output("y", {1}).weight("if_equal", {}, {if_equal});
    testing::set_ints(model.node("Split", {"x"}, {"first", "others"}), "split", {1, 2});
    model.node("ReduceMin", {"others"}, {"least"});
    for (const auto& [op, name] : {std::pair{order, "smaller"}, std::pair{"Equal", "equal"}}) {
      model.node(op, {"first", "least"}, {std::string("is_") + name});
      testing::set_int(model.node("Cast", {std::string("is_") + name}, {name}), "to",
                       ::onnx::TensorProto::FLOAT);
    }
    model.node("Mul", {"equal", "if_equal"}, {"more"});
    model.node("Add", {"smaller", "more"}, {"y"});
    return model;
  };
  const EquivalenceReport jumps = check(step("Less", 0), step("LessOrEqual", 0));
  EXPECT_TRUE(jumps.equivalent) << jumps.reason;
  const EquivalenceReport leaps = check(step("Less", 0), step("LessOrEqual", 9));
  EXPECT_FALSE(leaps.equivalent);
  EXPECT_THAT(leaps.reason, HasSubstr("all floats"));
}

// What x times 3300 has behind its point: it jumps from 1 to 0 where rounding decides.
TEST_F(OutputsThatJump, AFewElementsThatNoiseMovesAsFarAreNoDifference) {
  const auto sawtooth = [](const std::vector<float>& factors, float first_more) {
    std::vector<float> more(256 * 256);
    more[0] = first_more;
    ModelBuilder model;
    model.input("x", {256, 256}).output("y", {256, 256}).weight("more", {256, 256}, more);
    model.weight("least", {}, {-4}).weight("most", {}, {4}).node("Clip", {"x", "least", "most"}, {"bounded"});
    std::string last = "bounded";
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const std::string factor = "factor" + std::to_string(i), next = "z" + std::to_string(i);
      model.weight(factor, {1}, {factors[i]}).node("Mul", {last, factor}, {next});
      last = next;
    }
    model.node("Floor", {last}, {"floor"});
    model.node("Sub", {last, "floor"}, {"fraction"});
    model.node("Add", {"fraction", "more"}, {"y"});
    return model;
  };
  const EquivalenceReport jumps = check(sawtooth({3300}, 0), sawtooth({3, 1100}, 0));
  EXPECT_TRUE(jumps.equivalent) << jumps.reason;
  EXPECT_THAT(jumps.notes, Contains(HasSubstr("of output y jump where rounding decides")));
  const EquivalenceReport moved = check(sawtooth({3300}, 0), sawtooth({3, 1100}, 0.3F));
  EXPECT_FALSE(moved.equivalent);
}

// Each draw of noise moves all of it: that is no jump, however far it is.
TEST_F(OutputsThatJump, WhatNoiseAlwaysMovesIsComparedAllTheSame) {
  const auto wave = [](float more) {
    ModelBuilder model;
    model.input("x", {4}).output("y", {4}).weight("fast", {}, {30000}).weight("more", {}, {more});
    model.node("Mul", {"x", "fast"}, {"z"});
    model.node("Sin", {"z"}, {"wave"});
    model.node("Add", {"wave", "more"}, {"y"});
    return model;
  };
  EXPECT_TRUE(check(wave(0), wave(0)).equivalent);
  const EquivalenceReport differs = check(wave(0), wave(0.01F)), soon = check(wave(0), wave(0.01F), {}, 0);
  EXPECT_FALSE(differs.equivalent);
  EXPECT_THAT(differs.notes, Not(Contains(HasSubstr("is not known"))));
  EXPECT_FALSE(soon.equivalent);
  EXPECT_THAT(soon.notes,
              Contains("whether outputs jump where rounding decides is not known: the time was over"));
}

// One row is known to fewer digits, since a large number is added and taken away again. What rounds elsewhere
// differs there; that excuses nothing at 7 rows.
TEST_F(OutputsThatJump, WhatRoundingMayDoAtOneSizeExcusesNothingAtAnother) {
  const auto rows = [](const std::vector<float>& factors, float error_at_7) {
    ModelBuilder model;
    model.input("x", {"n", 1 << 16}).output("y", {"n", 1 << 16}).integers("first", {0});
    model.node("Shape", {"x"}, {"dims"});
    model.node("Gather", {"dims", "first"}, {"n_is"});
    std::string last = "x";
    for (const float factor : factors) {
      model.weight("by_" + last, {1}, {factor}).node("Mul", {last, "by_" + last}, {last + "m"});
      last += "m";
    }
    for (const auto& [size, name, weight] :
         {std::tuple{1, std::string("large"), 1e4f}, std::tuple{7, std::string("more"), error_at_7}}) {
      model.integers(name + "_at", {size}).node("Equal", {"n_is", name + "_at"}, {"is_" + name});
      testing::set_int(model.node("Cast", {"is_" + name}, {"use_" + name}), "to", ::onnx::TensorProto::FLOAT);
      model.weight("w_" + name, {1}, {weight}).node("Mul", {"use_" + name, "w_" + name}, {name});
    }
    model.node("Add", {last, "large"}, {"sum"});
    model.node("Sub", {"sum", "large"}, {"value"});
    model.node("Mul", {"value", "more"}, {"error"});
    model.node("Add", {"value", "error"}, {"y"});
    return model;
  };
  const EquivalenceReport rounded = check(rows({3.3f}, 0), rows({1.1f, 3.0f}, 0), {{{"n", 2}}});
  EXPECT_TRUE(rounded.equivalent) << rounded.reason;
  EXPECT_GT(rounded.outputs[0].tolerance, 2.1e-4);
  const EquivalenceReport wrong = check(rows({3.3f}, 0), rows({1.1f, 3.0f}, 2e-4f), {{{"n", 2}}});
  EXPECT_FALSE(wrong.equivalent);
  EXPECT_THAT(wrong.reason, HasSubstr("(binding: n=7)"));
  EXPECT_LE(wrong.outputs[0].tolerance, 1.1e-5) << "by which it was refused";
}

}  // namespace
}
