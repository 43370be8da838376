// The kernels that the cost model predicts, held against those that ONNX Runtime launches.
#include <gtest/gtest.h>

#include <regex>

#include "core/cost/analytic_cost.h"
#include "core/exec/inputs/find_feed.h"
#include "core/exec/kernels/kernel_lists.h"
#include "core/exec/tiny_models.h"
#include "core/onnx/import.h"

namespace regraft::exec {
namespace {

struct Case {
  const char* name;
  const char* nodes;  // "m=ReduceMean(x) d=Sub(x,m) ..."; the last one is the output
};

using Dims = std::vector<std::int64_t>;

/// Inputs: x [1, 8, 64], i [1, 16, 12, 12]. Constants: two, one, half (below 0), eps, three, plushalf, cubed,
/// outer, root, inverse (of it), near and off (it, but for a little), farther (from outer), halves [64],
/// half1 [1], half11 [1, 1], F [1, 8, 64], C [], C1 and S1 [1], S and B [64], B8 [8], M, Mk and Mv [64, 64],
/// M8 [8, 8], K [16, 1, 1], W [16, 16, 3, 3], integers n0, n4, n8, last. Means are over the last dim;
/// convolutions keep the image's size; Transpose swaps the last two dims.
std::filesystem::path write(const Case& one, const std::filesystem::path& file) {
  const std::string text = one.nodes;
  testing::ModelBuilder model;
  const auto weight = [&](const char* name, const Dims& dims, float value) {
    std::size_t count = 1;
    for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
    model.weight(name, dims, std::vector<float>(count, value));
  };
  weight("two", {}, 2);
  weight("one", {}, 1);
  weight("half", {}, -0.5f);
  weight("eps", {}, 1e-5f);
  weight("C", {}, 1.5f);
  weight("C1", {1}, 1.5f);
  weight("three", {}, 3);
  weight("plushalf", {}, 0.5f);
  weight("cubed", {}, 0.044715f);
  weight("outer", {}, 0.79788458f);
  weight("root", {}, 1.41421354f);
  weight("inverse", {}, 0.70710677f);
  weight("near", {}, 1.4142f);
  weight("off", {}, 1.41423f);
  weight("farther", {}, 0.7979f);
  weight("halves", {64}, 0.5f);
  weight("half1", {1}, 0.5f);
  weight("half11", {1, 1}, 0.5f);
  weight("S1", {1}, 0.75f);
  weight("F", {1, 8, 64}, 0.125f);
  weight("B8", {8}, 0.25f);
  weight("M", {64, 64}, 0.01f);
  weight("Mk", {64, 64}, 0.02f);
  weight("Mv", {64, 64}, 0.03f);
  weight("M8", {8, 8}, 0.1f);
  for (const auto& [name, value] : {std::pair{"n0", 0}, {"n4", 4}, {"n6", 6}, {"n8", 8}, {"last", 1}})
    model.integers(name, {value});
  weight("S", {64}, 0.5f);
  weight("B", {64}, 0.25f);
  weight("K", {16, 1, 1}, 0.75f);
  weight("W", {16, 16, 3, 3}, 0.01f);
  const bool image = text.find("(i") != std::string::npos;
  image ? model.input("i", {1, 16, 12, 12}) : model.input("x", {1, 8, 64});
  const std::regex node(R"((\w+)=(\w+)\(([\w,]*)\))"), name(R"(\w+)");
  std::string last;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), node); it != std::sregex_iterator(); ++it) {
    const std::string arguments = (*it)[3];
    std::vector<std::string> inputs;
    for (auto in = std::sregex_iterator(arguments.begin(), arguments.end(), name);
         in != std::sregex_iterator(); ++in)
      inputs.push_back(in->str());
    auto& made = model.node((*it)[2], inputs, {(*it)[1]});
    if ((*it)[2] == "ReduceMean") testing::set_ints(made, "axes", {-1});
    if ((*it)[2] == "Conv") testing::set_ints(made, "pads", {1, 1, 1, 1});
    if ((*it)[2] == "HardSigmoid") testing::set_float(made, "alpha", 1.0f / 6);
    if ((*it)[2] == "Transpose") testing::set_ints(made, "perm", {0, 2, 1});
    last = (*it)[1];
  }
  image ? model.output(last, {1, 16, 12, 12}) : model.output(last, {1, "rows", "columns"});
  return model.write(file);
}

constexpr auto by_name = [](const auto& one) { return std::string(one.param.name); };

class KernelForms : public ::testing::TestWithParam<Case> {};

TEST_P(KernelForms, AreAsLongAsTheRuntimes) {
  const testing::TempFolder folder;
  const auto file = write(GetParam(), folder / "m.onnx");
  const KernelProfile real = profile_model(file, find_feed(file, {.several = false}), {.budget_s = 0.1});
  const onnx::ImportedModel model = onnx::import_model(file);
  const cost::DeviceProfile device =
      cost::load_device(std::string(REGRAFT_SOURCE_DIR) + "/configs/devices/cpu-1core.toml");
  const graph::Bindings bindings;
  const auto predicted = cost::AnalyticCost(device, bindings, model.graph()).kernels();
  std::string ops;
  for (const KernelTime& kernel : real.kernels) ops += kernel.op + " ";
  const auto is_predicted_view = [](const cost::PredictedKernel& kernel) { return kernel.view; };
  EXPECT_EQ(predicted.size() - std::ranges::count_if(predicted, is_predicted_view),
            real.kernels.size() - std::ranges::count_if(real.kernels, is_view))
      << ops;
}

const Case kNormsKernelForms[] = {
    {"layer_norm",
     "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) "
     "n=Div(d,r) k=Mul(n,S) y=Add(k,B)"},
    {"turned_round",
     "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(eps,v) r=Sqrt(e) "
     "n=Div(d,r) k=Mul(S,n) y=Add(B,k)"},
    {"two_differences",
     "m=ReduceMean(x) d=Sub(x,m) c=Sub(x,m) q=Pow(c,two) v=ReduceMean(q) "
     "e=Add(v,eps) r=Sqrt(e) n=Div(d,r) k=Mul(n,S) y=Add(k,B)"},
    {"one_over",
     "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) i=Div(one,r) "
     "n=Mul(d,i) k=Mul(n,S) y=Add(k,B)"},
    {"scale_of_one_number",
     "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) n=Div(d,r) "
     "k=Mul(n,S1) y=Add(k,B)"},
    {"scale_that_is_computed",
     "g=Neg(S) m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) "
     "n=Div(d,r) k=Mul(n,g) y=Add(k,B)"},
    {"square_by_mul",
     "m=ReduceMean(x) d=Sub(x,m) q=Mul(d,d) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) "
     "n=Div(d,r) k=Mul(n,S) y=Add(k,B)"},
    {"by_reciprocal",
     "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) "
     "r=Sqrt(e) i=Reciprocal(r) n=Mul(d,i) k=Mul(n,S) y=Add(k,B)"},
    {"without_bias",
     "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) "
     "r=Sqrt(e) n=Div(d,r) y=Mul(n,S)"},
    {"without_scale",
     "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) "
     "r=Sqrt(e) y=Div(d,r)"},
    {"residual",
     "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) "
     "n=Div(d,r) k=Mul(n,S) z=Add(k,B) y=Add(z,x)"},
    {"rms", "q=Pow(x,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) n=Div(x,r) y=Mul(n,S)"},
    {"rms_by_one_over",
     "q=Pow(x,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) i=Div(one,r) "
     "n=Mul(x,i) y=Mul(n,S)"},
    {"rms_by_reciprocal",
     "q=Pow(x,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) i=Reciprocal(r) "
     "n=Mul(x,i) y=Mul(n,S)"},
    {"rms_by_power", "q=Pow(x,two) v=ReduceMean(q) e=Add(v,eps) i=Pow(e,half) n=Mul(x,i) y=Mul(n,S)"},
    {"rms_square_by_mul", "q=Mul(x,x) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) n=Div(x,r) y=Mul(n,S)"},
    {"skip_rms",
     "w=Neg(x) z=Add(x,w) q=Pow(z,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) n=Div(z,r) "
     "y=Mul(n,S)"},
    {"skip_of_a_constant", "z=Add(x,F) y=LayerNormalization(z,S,B)"},
    {"skip_of_a_row", "z=Add(x,B) y=LayerNormalization(z,S,B)"},
    {"skip",
     "w=Neg(x) z=Add(x,w) m=ReduceMean(z) d=Sub(z,m) q=Pow(d,two) v=ReduceMean(q) "
     "e=Add(v,eps) r=Sqrt(e) n=Div(d,r) k=Mul(n,S) y=Add(k,B)"}};
INSTANTIATE_TEST_SUITE_P(Norms, KernelForms, ::testing::ValuesIn(kNormsKernelForms), by_name);

const Case kGelusKernelForms[] = {
    {"half_last", "d=Div(x,root) e=Erf(d) p=Add(e,one) m=Mul(x,p) y=Mul(m,plushalf)"},
    {"half_last_turned_round", "d=Div(x,root) e=Erf(d) p=Add(one,e) m=Mul(p,x) y=Mul(plushalf,m)"},
    {"half_first", "d=Div(x,root) e=Erf(d) p=Add(e,one) h=Mul(x,plushalf) y=Mul(h,p)"},
    {"half_first_turned_round", "d=Div(x,root) e=Erf(d) p=Add(one,e) h=Mul(plushalf,x) y=Mul(p,h)"},
    {"times", "d=Mul(x,inverse) e=Erf(d) p=Add(e,one) m=Mul(x,p) y=Mul(m,plushalf)"},
    {"times_half_first", "d=Mul(x,inverse) e=Erf(d) p=Add(e,one) h=Mul(x,plushalf) y=Mul(h,p)"},
    {"near", "d=Div(x,near) e=Erf(d) p=Add(e,one) m=Mul(x,p) y=Mul(m,plushalf)"},
    {"off", "d=Div(x,off) e=Erf(d) p=Add(e,one) m=Mul(x,p) y=Mul(m,plushalf)"},
    {"halves", "d=Div(x,root) e=Erf(d) p=Add(e,one) m=Mul(x,p) y=Mul(m,halves)"},
    {"half_of_one_dim", "d=Div(x,root) e=Erf(d) p=Add(e,one) m=Mul(x,p) y=Mul(m,half1)"},
    {"half_of_two_dims", "d=Div(x,root) e=Erf(d) p=Add(e,one) m=Mul(x,p) y=Mul(m,half11)"},
    {"of_a_product", "a=Mul(x,S) d=Div(a,root) e=Erf(d) p=Add(e,one) m=Mul(a,p) y=Mul(m,plushalf)"},
    {"of_a_product_half_first",
     "a=Mul(x,S) d=Div(a,root) e=Erf(d) p=Add(e,one) h=Mul(a,plushalf) y=Mul(h,p)"},
    {"used_inside", "d=Div(x,root) e=Erf(d) p=Add(e,one) m=Mul(x,p) h=Mul(m,plushalf) y=Add(h,e)"}};
INSTANTIATE_TEST_SUITE_P(Gelus, KernelForms, ::testing::ValuesIn(kGelusKernelForms), by_name);

const Case kGelusByTanhKernelForms[] = {
    {"of_another_factor",
     "c=Pow(x,three) s=Mul(c,cubed) a=Add(x,s) z=Mul(a,farther) t=Tanh(z) p=Add(t,one) "
     "h=Mul(x,plushalf) m=Mul(h,p) y=Neg(m)"},
    {"by_power",
     "c=Pow(x,three) s=Mul(c,cubed) a=Add(x,s) z=Mul(a,outer) t=Tanh(z) p=Add(t,one) "
     "h=Mul(x,plushalf) y=Mul(h,p)"},
    {"turned_round",
     "c=Pow(x,three) s=Mul(cubed,c) a=Add(s,x) z=Mul(outer,a) t=Tanh(z) p=Add(one,t) "
     "h=Mul(plushalf,x) w=Mul(p,h) y=Neg(w)"},
    {"by_products",
     "s=Mul(x,cubed) q=Mul(s,x) p1=Add(q,one) o=Mul(x,outer) z=Mul(p1,o) t=Tanh(z) "
     "p=Add(t,one) h=Mul(x,plushalf) y=Mul(h,p)"},
    {"half_behind",
     "c=Pow(x,three) s=Mul(c,cubed) a=Add(x,s) z=Mul(a,outer) t=Tanh(z) p=Add(t,one) "
     "m=Mul(x,p) y=Mul(m,plushalf)"},
    {"of_a_square",
     "c=Pow(x,two) s=Mul(c,cubed) a=Add(x,s) z=Mul(a,outer) t=Tanh(z) p=Add(t,one) "
     "h=Mul(x,plushalf) y=Mul(h,p)"},
    {"used_inside",
     "c=Pow(x,three) s=Mul(c,cubed) a=Add(x,s) z=Mul(a,outer) t=Tanh(z) p=Add(t,one) "
     "h=Mul(x,plushalf) m=Mul(h,p) y=Add(m,z)"}};
INSTANTIATE_TEST_SUITE_P(GelusByTanh, KernelForms, ::testing::ValuesIn(kGelusByTanhKernelForms), by_name);

const Case kProductsKernelForms[] = {
    {"biased", "m=MatMul(x,M) y=Add(m,B)"},
    {"biased_by_a_scalar", "m=MatMul(x,M) y=Add(m,C)"},
    {"bias_that_is_computed", "b=Relu(B) m=MatMul(x,M) y=Add(m,b)"},
    {"of_a_transpose", "a=Relu(x) t=Transpose(a) y=MatMul(t,M8)"},
    {"biased_of_a_transpose", "a=Relu(x) t=Transpose(a) m=MatMul(t,M8) y=Add(m,B8)"},
    {"of_a_multiple", "a=Relu(x) s=Mul(a,C) y=MatMul(s,M)"},
    {"biased_of_a_multiple", "a=Relu(x) s=Mul(a,C) m=MatMul(s,M) y=Add(m,B)"},
    {"two", "a=MatMul(x,M) b=Relu(x) c=MatMul(b,M) y=Add(a,c)"},
    {"of_an_attention",
     "r=Relu(x) l0=Add(r,B) o=Add(l0,x) n=LayerNormalization(o,S,B) q=MatMul(n,M) qb=Add(q,B) "
     "k=MatMul(n,Mk) kb=Add(k,S) v=MatMul(n,Mv) vb=Add(v,B) w=Mul(qb,kb) u=Sub(w,vb) "
     "e=MatMul(u,M) f=Add(e,B) g=Add(f,n) y=Neg(g)"}};
INSTANTIATE_TEST_SUITE_P(Products, KernelForms, ::testing::ValuesIn(kProductsKernelForms), by_name);

const Case kSplitsKernelForms[] = {
    {"slices", "a=Relu(x) l=Slice(a,n0,n4,last) r=Slice(a,n4,n8,last) y=Sub(l,r)"},
    {"slices_that_overlap",
     "a=Relu(x) l=Slice(a,n0,n6,last) r=Slice(a,n4,n8,last) u=ReduceMean(r) s=Transpose(u) "
     "t=ReduceMean(s) y=Sub(l,t)"},
    {"slices_with_a_gap",
     "a=Relu(x) l=Slice(a,n0,n4,last) r=Slice(a,n6,n8,last) u=ReduceMean(r) s=Transpose(u) "
     "t=ReduceMean(s) y=Sub(l,t)"},
    {"slices_and_another",
     "a=Relu(x) l=Slice(a,n0,n4,last) r=Slice(a,n4,n8,last) q=Neg(a) "
     "z=ReduceMean(q) k=Slice(z,n0,n4,last) w=Sub(l,r) y=Sub(w,k)"}};
INSTANTIATE_TEST_SUITE_P(Splits, KernelForms, ::testing::ValuesIn(kSplitsKernelForms), by_name);

const Case kGatesKernelForms[] = {
    {"silu", "a=Relu(x) s=Sigmoid(a) m=Mul(a,s) y=Neg(m)"},
    {"silu_turned_round", "a=Relu(x) s=Sigmoid(a) m=Mul(s,a) y=Neg(m)"},
    {"silu_of_a_multiple", "a=Relu(x) p=Mul(a,C) s=Sigmoid(p) m=Mul(a,s) y=Neg(m)"},
    {"sigmoid_used_again", "a=Relu(x) s=Sigmoid(a) m=Mul(a,s) y=Add(m,s)"},
    {"sigmoid_of_another", "a=Relu(x) s=Sigmoid(x) m=Mul(a,s) y=Neg(m)"}};
INSTANTIATE_TEST_SUITE_P(Gates, KernelForms, ::testing::ValuesIn(kGatesKernelForms), by_name);

const Case kBytesKernelForms[] = {
    {"softmax",
     "q=QuantizeLinear(x,C) d=DequantizeLinear(q,C) s=Softmax(d) p=QuantizeLinear(s,C) "
     "y=DequantizeLinear(p,C)"},
    {"softmax_to_floats", "q=QuantizeLinear(x,C) d=DequantizeLinear(q,C) s=Softmax(d) y=Neg(s)"},
    {"unsigned_that_two_read",
     "q=QuantizeLinear(x,C) d=DequantizeLinear(q,C) s=Softmax(d) p=QuantizeLinear(s,C) "
     "e=DequantizeLinear(p,C) a=Add(d,e) r=QuantizeLinear(a,C) y=DequantizeLinear(r,C)"}};
INSTANTIATE_TEST_SUITE_P(Bytes, KernelForms, ::testing::ValuesIn(kBytesKernelForms), by_name);

const Case kBehindConvolutionsKernelForms[] = {
    {"scalar", "a=Conv(i,W) m=Mul(a,C) y=Conv(m,W)"},
    {"scalar_first", "a=Conv(i,W) m=Mul(C,a) y=Conv(m,W)"},
    {"scalar_added", "a=Conv(i,W) m=Add(a,C) y=Conv(m,W)"},
    {"one_number", "a=Conv(i,W) m=Mul(a,C1) y=Conv(m,W)"},
    {"one_number_added", "a=Conv(i,W) m=Add(a,C1) y=Conv(m,W)"},
    {"channels", "a=Conv(i,W) m=Mul(a,K) y=Conv(m,W)"},
    {"channels_twice", "a=Conv(i,W) m=Mul(a,K) q=Mul(m,K) y=Conv(q,W)"},
    {"scalar_after_relu", "a=Conv(i,W) r=Relu(a) m=Mul(r,C) y=Conv(m,W)"},
    {"channels_after_relu", "a=Conv(i,W) r=Relu(a) m=Mul(r,K) y=Conv(m,W)"},
    {"channels_first_after_relu", "a=Conv(i,W) r=Relu(a) m=Mul(K,r) y=Conv(m,W)"},
    {"channels_added_after_relu", "a=Conv(i,W) r=Relu(a) m=Add(r,K) y=Conv(m,W)"},
    {"blocked_silu", "a=Conv(i,W) s=Sigmoid(a) m=Mul(a,s) y=Conv(m,W)"},
    {"silu_of_a_sum", "a=Conv(i,W) n=Add(a,i) s=Sigmoid(n) m=Mul(n,s) y=Conv(m,W)"},
    {"hard_swish", "a=Conv(i,W) h=HardSwish(a) y=Conv(h,W)"},
    {"hard_swish_in_parts", "a=Conv(i,W) s=HardSigmoid(a) m=Mul(a,s) y=Conv(m,W)"},
    {"hard_swish_of_channels", "a=Conv(i,W) k=Mul(a,K) s=HardSigmoid(k) m=Mul(s,k) y=Conv(m,W)"},
    {"hard_swish_used_again", "a=Conv(i,W) s=HardSigmoid(a) m=Mul(a,s) n=Add(m,a) y=Conv(n,W)"},
    {"hard_swish_of_a_sum", "a=Conv(i,W) b=Conv(i,W) n=Add(a,b) s=HardSigmoid(n) m=Mul(n,s) y=Conv(m,W)"},
    {"gelu", "a=Conv(i,W) d=Div(a,root) e=Erf(d) p=Add(e,one) m=Mul(a,p) h=Mul(m,plushalf) y=Conv(h,W)"},
    {"gelu_half_first",
     "a=Conv(i,W) d=Div(a,root) e=Erf(d) p=Add(e,one) h=Mul(a,plushalf) m=Mul(h,p) y=Conv(m,W)"},
    {"gelu_of_another_order",
     "a=Conv(i,W) d=Div(a,root) e=Erf(d) p=Add(e,one) h=Mul(p,plushalf) m=Mul(a,h) y=Conv(m,W)"},
    {"elu", "a=Conv(i,W) h=Elu(a) y=Conv(h,W)"}};
INSTANTIATE_TEST_SUITE_P(BehindConvolutions, KernelForms, ::testing::ValuesIn(kBehindConvolutionsKernelForms),
                         by_name);

}  // namespace
}  // namespace regraft::exec
