// The kernels that the cost model predicts, held against those that ONNX Runtime launches.
#include <gtest/gtest.h>

#include <regex>

#include "core/cost/analytic.h"
#include "core/exec/inputs/find_feed.h"
#include "core/exec/latency/profile.h"
#include "core/exec/tiny_models.h"
#include "core/onnx/import.h"

namespace regraft::exec {
namespace {

struct Case {
  const char* name;
  const char*
      nodes;  // "m=ReduceMean(x) d=Sub(x,m) ..."; means are over the last dim; the last one is the output
};

/// x [1, 8, 64]; s and b [64]; two, one, half, eps: scalars.
std::filesystem::path write(const Case& one, const std::filesystem::path& file) {
  testing::ModelBuilder model;
  model.input("x", {1, 8, 64});
  model.weight("two", {}, {2}).weight("one", {}, {1}).weight("half", {}, {-0.5f}).weight("eps", {}, {1e-5f});
  model.weight("s", {64}, std::vector<float>(64, 0.5f)).weight("b", {64}, std::vector<float>(64, 0.25f));
  const std::string text = one.nodes;
  const std::regex node(R"((\w+)=(\w+)\(([\w,]*)\))"), name(R"(\w+)");
  std::string last;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), node); it != std::sregex_iterator(); ++it) {
    const std::string arguments = (*it)[3];
    std::vector<std::string> inputs;
    for (auto in = std::sregex_iterator(arguments.begin(), arguments.end(), name);
         in != std::sregex_iterator(); ++in)
      inputs.push_back(in->str());
    auto& made = model.node((*it)[2], inputs, {(*it)[1]});
    if ((*it)[2] == "ReduceMean") {
      ::onnx::AttributeProto& axes = *made.add_attribute();
      axes.set_name("axes");
      axes.set_type(::onnx::AttributeProto::INTS);
      axes.add_ints(-1);
    }
    last = (*it)[1];
  }
  model.output(last, {1, 8, 64});
  return model.write(file);
}

class KernelLists : public ::testing::TestWithParam<Case> {};

TEST_P(KernelLists, AreAsLongAsTheRuntimes) {
  const testing::TempFolder folder;
  const auto file = write(GetParam(), folder / "m.onnx");
  const KernelProfile real = profile_model(file, find_feed(file, {.several = false}), {.budget_s = 0.1});
  const onnx::ImportedModel model = onnx::import_model(file);
  const cost::DeviceProfile device =
      cost::load_device(std::string(REGRAFT_SOURCE_DIR) + "/configs/devices/cpu-1core.toml");
  const double predicted = cost::AnalyticCost(device, {}, model.graph()).cost().launches;
  std::string ops;
  for (const KernelTime& kernel : real.kernels) ops += kernel.op + " ";
  EXPECT_EQ(predicted, static_cast<double>(real.kernels.size())) << ops;
}

INSTANTIATE_TEST_SUITE_P(
    Norms, KernelLists,
    ::testing::Values(
        Case{"layer_norm",
             "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) "
             "n=Div(d,r) k=Mul(n,s) y=Add(k,b)"},
        Case{"turned_round",
             "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(eps,v) r=Sqrt(e) "
             "n=Div(d,r) k=Mul(s,n) y=Add(b,k)"},
        Case{"two_differences",
             "m=ReduceMean(x) d=Sub(x,m) c=Sub(x,m) q=Pow(c,two) v=ReduceMean(q) "
             "e=Add(v,eps) r=Sqrt(e) n=Div(d,r) k=Mul(n,s) y=Add(k,b)"},
        Case{"square_by_mul",
             "m=ReduceMean(x) d=Sub(x,m) q=Mul(d,d) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) "
             "n=Div(d,r) k=Mul(n,s) y=Add(k,b)"},
        Case{"by_reciprocal",
             "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) "
             "r=Sqrt(e) i=Reciprocal(r) n=Mul(d,i) k=Mul(n,s) y=Add(k,b)"},
        Case{"without_bias",
             "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) "
             "r=Sqrt(e) n=Div(d,r) y=Mul(n,s)"},
        Case{"without_scale",
             "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) "
             "r=Sqrt(e) y=Div(d,r)"},
        Case{"residual",
             "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) "
             "n=Div(d,r) k=Mul(n,s) z=Add(k,b) y=Add(z,x)"},
        Case{"rms", "q=Pow(x,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) n=Div(x,r) y=Mul(n,s)"},
        Case{"rms_by_one_over",
             "q=Pow(x,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) i=Div(one,r) "
             "n=Mul(x,i) y=Mul(n,s)"},
        Case{"rms_by_reciprocal",
             "q=Pow(x,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) i=Reciprocal(r) "
             "n=Mul(x,i) y=Mul(n,s)"},
        Case{"rms_by_power", "q=Pow(x,two) v=ReduceMean(q) e=Add(v,eps) i=Pow(e,half) n=Mul(x,i) y=Mul(n,s)"},
        Case{"rms_square_by_mul", "q=Mul(x,x) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) n=Div(x,r) y=Mul(n,s)"},
        Case{"skip_rms",
             "w=Neg(x) z=Add(x,w) q=Pow(z,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) n=Div(z,r) "
             "y=Mul(n,s)"},
        Case{"skip",
             "w=Neg(x) z=Add(x,w) m=ReduceMean(z) d=Sub(z,m) q=Pow(d,two) v=ReduceMean(q) "
             "e=Add(v,eps) r=Sqrt(e) n=Div(d,r) k=Mul(n,s) y=Add(k,b)"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace regraft::exec
