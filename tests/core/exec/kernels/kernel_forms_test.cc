// The kernels that the cost model predicts, held against those that ONNX Runtime launches.
#include <gmock/gmock.h>

#include <map>
#include <numeric>
#include <regex>
#include <tuple>

#include "core/base/enum_names.h"
#include "core/exec/inputs/find_feed.h"
#include "core/exec/kernels/kernel_lists.h"
#include "core/exec/site/oracle_case.h"

namespace regraft::exec {
namespace {

struct Case {
  const char* name;
  const char* nodes;        // "m=ReduceMean(x) d=Sub(x,m) ..."; the last one is the output
  const char* mul = "Mul";  // the kernel that the runtime launches for a Mul
};

using Dims = testing::Ints;

/// What several cases have in common.
constexpr std::pair<std::string_view, std::string_view> kPieces[] = {
    {"<norm>", "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e)"},
    {"<conv>", "a=Conv(i,W) "},
    {"<erf>", "d=Div(x,root) e=Erf(d) p=Add(e,one)"},
    {"<tanh>", "c=Pow(x,three) s=Mul(c,cubed) a=Add(x,s) z=Mul(a,outer) t=Tanh(z) p=Add(t,one)"},
    {"<gelu_of_a>", "d=Div(a,root) e=Erf(d) p=Add(e,one) m=Mul(a,p)"},
    {"<last_and_back>", "t=ToLast(i) r=LayerNormalization(t,S16,S16) f=FromLast(r)"},
    {"<norm_of_blocks>", "a=Conv(i,W) b=Conv(i,V) c=Concat(a,b) n=BatchNormalization(c,S32,S32,S32,S32)"},
    {"<rms>", "q=Pow(x,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e)"},
    {"<sums>", "q=DynamicQuantizeLinear(x) m=MatMulInteger(q,"},
    {"<floats>", "c=Cast(m) p=Mul(q_s,C) n=Mul(c,p)"},
    {"<byte_conv>",
     "q=QuantizeLinear(i,C,Uz) d=DequantizeLinear(q,C,Uz) w=DequantizeLinear(I8w,C) a=Conv(d,w)"},
    {"<biased_byte_conv>",
     "q=QuantizeLinear(i,C,Uz) d=DequantizeLinear(q,C,Uz) w=DequantizeLinear(I8w,C) a=Conv(d,w,K1)"}};
/// Name, dims, value.
const std::tuple<const char*, Dims, float> kConstants[] = {
    {"two", {}, 2.0f},           {"one", {}, 1.0f},         {"half", {}, -0.5f},
    {"eps", {}, 1e-5f},          {"C", {}, 1.5f},           {"C1", {1}, 1.5f},
    {"three", {}, 3.0f},         {"plushalf", {}, 0.5f},    {"cubed", {}, 0.044715f},
    {"outer", {}, 0.79788458f},  {"root", {}, 1.41421354f}, {"inverse", {}, 0.70710677f},
    {"near", {}, 1.4142f},       {"off", {}, 1.41423f},     {"farther", {}, 0.7979f},
    {"halves", {64}, 0.5f},      {"half1", {1}, 0.5f},      {"half11", {1, 1}, 0.5f},
    {"S1", {1}, 0.75f},          {"F", {1, 8, 64}, 0.125f}, {"B8", {8}, 0.25f},
    {"M", {64, 64}, 0.01f},      {"Mk", {64, 64}, 0.02f},   {"Mv", {64, 64}, 0.03f},
    {"M8", {8, 8}, 0.1f},        {"S", {64}, 0.5f},         {"B1", {1, 64}, 0.25f},
    {"B", {64}, 0.25f},          {"K", {16, 1, 1}, 0.75f},  {"W", {16, 16, 3, 3}, 0.01f},
    {"V", {16, 16, 3, 3}, 0.02f}};
const std::pair<std::string, Dims> kByteConstants[] = {
    {"U", {64, 64}},         {"U0", {}}, {"I8", {64, 64}}, {"I0", {}}, {"I64", {64}},
    {"I8w", {16, 16, 3, 3}}, {"Uz", {}}, {"Ileast", {}}};
const std::tuple<const char*, Dims, float> kForImages[] = {
    {"K1", {16}, 0.5f}, {"zero", {}, 0.0f}, {"S16", {16}, 0.75f}, {"S32", {32}, 0.75f}};

/// Inputs: x [1, 8, 64], i [1, 16, 12, 12]. Constants: kConstants, kForImages; bytes U [64, 64], U0 [] and Uz
/// [] of 0, signed ones I8 [64, 64], I0 [], I64 [64], I8w [16, 16, 3, 3] and Ileast [] of -128; integers n0,
/// n4, n6, n8, last, pads. q=DynamicQuantizeLinear(x) makes q_s and q_z, too. Means are over the last dim;
/// convolutions keep the image's size; Transpose swaps the last two dims, ToLast and FromLast move the
/// channels.
std::filesystem::path write(const Case& one, const std::filesystem::path& file) {
  std::string text = one.nodes;
  for (const auto& [name, nodes] : kPieces)
    if (const std::size_t at = text.find(name); at != std::string::npos) text.replace(at, name.size(), nodes);
  const auto count = [](const Dims& dims) {
    return static_cast<std::size_t>(
        std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>()));
  };
  testing::ModelBuilder model;
  const auto add = [&](const auto& constants) {
    for (const auto& [name, dims, value] : constants)
      model.weight(name, dims, std::vector<float>(count(dims), value));
  };
  add(kConstants);
  add(kForImages);
  for (const auto& [name, dims] : kByteConstants) {
    ::onnx::TensorProto& bytes = *model.graph().add_initializer();
    bytes.set_name(name);
    bytes.set_data_type(name[0] == 'U' ? ::onnx::TensorProto::UINT8 : ::onnx::TensorProto::INT8);
    for (const std::int64_t dim : dims) bytes.add_dims(dim);
    bytes.set_raw_data(std::string(count(dims), name == "Uz" ? 0 : name == "Ileast" ? -128 : 3));
  }
  for (const auto& [name, value] : {std::pair{"n0", 0}, {"n4", 4}, {"n6", 6}, {"n8", 8}, {"last", 1}})
    model.integers(name, {value});
  model.integers("pads", {0, 0, 1, 1, 0, 0, 1, 1});
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
    const bool last_channels = (*it)[2] == "ToLast" || (*it)[2] == "FromLast";
    auto& made = model.node(last_channels ? "Transpose" : (*it)[2].str(), inputs, {(*it)[1]});
    if ((*it)[2] == "ToLast") testing::set_ints(made, "perm", {0, 2, 3, 1});
    if ((*it)[2] == "FromLast") testing::set_ints(made, "perm", {0, 3, 1, 2});
    if ((*it)[2] == "DynamicQuantizeLinear")
      for (const char* part : {"_s", "_z"}) made.add_output((*it)[1].str() + part);
    if ((*it)[2] == "Cast") testing::set_int(made, "to", ::onnx::TensorProto::FLOAT);
    if ((*it)[2] == "ReduceMean") testing::set_ints(made, "axes", {-1});
    if ((*it)[2] == "Concat") testing::set_int(made, "axis", 1);
    if ((*it)[2] == "Conv") testing::set_ints(made, "pads", {1, 1, 1, 1});
    if ((*it)[2] == "HardSigmoid") testing::set_float(made, "alpha", 1.0f / 6);
    if ((*it)[2] == "Transpose") testing::set_ints(made, "perm", {0, 2, 1});
    last = (*it)[1];
  }
  image ? model.output(last, {1, "channels", "height", "width"}) : model.output(last, {1, "rows", "columns"});
  return model.write(file);
}

class KernelForms : public ::testing::TestWithParam<Case> {};

/// How predictions call kernels that the runtime calls otherwise.
const std::map<std::string_view, const char*> kPredictedNames = {
    {"FusedMatMul", "MatMul"},
    {"Gemm", "MatMul"},
    {"FusedGemm", "MatMul"},
    {"DynamicQuantizeMatMul", "MatMulInteger"},
    {"MatMulIntegerToFloat", "MatMulInteger"},
    {"FusedConv", "Conv"},
    {"ReorderInput", "Conv reorder"},
    {"ReorderOutput", "Conv reorder"},
    {"SimplifiedLayerNormalization", "LayerNormalization"},
    {"SkipLayerNormalization", "LayerNormalization skip"},
    {"BiasGelu", "Gelu"},
    {"FastGelu", "Gelu by_tanh"},
    {"QuickGelu", "Sigmoid gated"},
    {"QLinearSoftmax", "Softmax quantised"},
    {"QLinearAdd", "Add"},
    {"QLinearConv", "Conv quantised"},
};

std::string predicted_name(const KernelTime& kernel) {
  const auto other = kPredictedNames.find(kernel.op);
  return other == kPredictedNames.end() ? kernel.op : other->second;
}

std::string predicted_name(const cost::PredictedKernel& kernel, const char* mul) {
  using Form = cost::KernelForm;
  const cost::KernelFeatures& features = kernel.features;
  if (features.kind == graph::OpKind::mul) return mul;
  if (features.kind == graph::OpKind::batch_norm) return "Conv";  // of each channel, in the blocked layout
  const bool own_name = features.form == Form::reorder || features.form == Form::skip ||
                        features.form == Form::by_tanh || features.form == Form::gated ||
                        features.form == Form::quantised;
  const std::string op = features.op.empty() ? features.op_name() : features.op;
  return own_name ? op + " " + std::string(enum_name(features.form)) : op;
}

std::string name_of(const ::testing::TestParamInfo<Case>& one) {
  return one.param.name;
}

TEST_P(KernelForms, AreTheKernelsOfTheRuntime) {
  const testing::TempFolder folder;
  const auto file = write(GetParam(), folder / "m.onnx");
  const cost::DeviceProfile device =
      cost::load_device(std::string(REGRAFT_SOURCE_DIR) + "/configs/devices/cpu-1core.toml");
  const KernelLists lists =
      compare_kernels(file, find_feed(file, {.several = false}), device, {.budget_s = 0.1});
  const bool of_bytes = std::string_view(GetParam().nodes).find("byte_conv") != std::string_view::npos;
  std::vector<std::string> expected, launched;
  for (const ComparedKernel& one : lists.compared)
    if (!one.predicted.view) expected.push_back(predicted_name(one.predicted, GetParam().mul));
  for (const KernelTime& kernel : lists.profile.kernels)
    if (!is_view(kernel) && !(of_bytes && kernel.op == "Transpose"))  // to channels last and back
      launched.push_back(predicted_name(kernel));
  EXPECT_THAT(launched, ::testing::UnorderedElementsAreArray(expected));
}

const Case kNorms[] = {
    {"layer_norm", "<norm> n=Div(d,r) k=Mul(n,S) y=Add(k,B)"},
    {"turned_round",
     "m=ReduceMean(x) d=Sub(x,m) q=Pow(d,two) v=ReduceMean(q) e=Add(eps,v) r=Sqrt(e) n=Div(d,r) "
     "k=Mul(S,n) y=Add(B,k)"},
    {"two_differences",
     "m=ReduceMean(x) d=Sub(x,m) c=Sub(x,m) q=Pow(c,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) "
     "n=Div(d,r) k=Mul(n,S) y=Add(k,B)"},
    {"one_over", "<norm> i=Div(one,r) n=Mul(d,i) k=Mul(n,S) y=Add(k,B)"},
    {"scale_of_one_number", "<norm> n=Div(d,r) k=Mul(n,S1) y=Add(k,B)"},
    {"scale_that_is_computed", "g=Neg(S) <norm> n=Div(d,r) k=Mul(n,g) y=Add(k,B)"},
    {"square_by_mul",
     "m=ReduceMean(x) d=Sub(x,m) q=Mul(d,d) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) n=Div(d,r) "
     "k=Mul(n,S) y=Add(k,B)"},
    {"by_reciprocal", "<norm> i=Reciprocal(r) n=Mul(d,i) k=Mul(n,S) y=Add(k,B)"},
    {"without_bias", "<norm> n=Div(d,r) y=Mul(n,S)"},
    {"without_scale", "<norm> y=Div(d,r)"},
    {"residual", "<norm> n=Div(d,r) k=Mul(n,S) z=Add(k,B) y=Add(z,x)"},
    {"rms", "<rms> n=Div(x,r) y=Mul(n,S)"},
    {"rms_by_one_over", "<rms> i=Div(one,r) n=Mul(x,i) y=Mul(n,S)"},
    {"rms_behind_casts",
     "t=Cast(x) q=Pow(t,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) n=Div(t,r) o=Cast(n) y=Mul(o,S)"},
    {"rms_by_a_copied_scale", "<rms> n=Div(x,r) k=Identity(S) y=Mul(n,k)"},
    {"one_over_a_mean", "m=ReduceMean(x) o=Div(one,m) y=Mul(o,x)"},
    {"half_over", "m=ReduceMean(x) o=Div(half,m) y=Mul(x,o)"},
    {"one_over_that_two_read", "m=ReduceMean(x) o=Div(one,m) n=Mul(x,o) y=Sub(n,o)"},
    {"rms_by_reciprocal", "<rms> i=Reciprocal(r) n=Mul(x,i) y=Mul(n,S)"},
    {"rms_by_power", "q=Pow(x,two) v=ReduceMean(q) e=Add(v,eps) i=Pow(e,half) n=Mul(x,i) y=Mul(n,S)"},
    {"rms_square_by_mul", "q=Mul(x,x) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) n=Div(x,r) y=Mul(n,S)"},
    {"skip_rms",
     "w=Neg(x) z=Add(x,w) q=Pow(z,two) v=ReduceMean(q) e=Add(v,eps) r=Sqrt(e) n=Div(z,r) y=Mul(n,S)"},
    {"skip_and_bias", "w=Neg(x) b=Add(w,B) z=Add(x,b) y=LayerNormalization(z,S,B)"},
    {"skip_and_bias_first", "w=Neg(x) b=Add(B,w) z=Add(b,x) y=LayerNormalization(z,S,B)"},
    {"skip_of_a_constant", "z=Add(x,F) y=LayerNormalization(z,S,B)"},
    {"skip_of_a_row", "z=Add(x,B) y=LayerNormalization(z,S,B)"},
    {"skip",
     "w=Neg(x) z=Add(x,w) m=ReduceMean(z) d=Sub(z,m) q=Pow(d,two) v=ReduceMean(q) e=Add(v,eps) "
     "r=Sqrt(e) n=Div(d,r) k=Mul(n,S) y=Add(k,B)"}};
INSTANTIATE_TEST_SUITE_P(Norms, KernelForms, ::testing::ValuesIn(kNorms), name_of);

const Case kGelus[] = {
    {"behind_a_bias", "a=Add(x,B) <gelu_of_a> y=Mul(m,plushalf)"},
    {"behind_a_bias_on_the_left", "a=Add(B,x) <gelu_of_a> y=Mul(m,plushalf)"},
    {"behind_a_row", "a=Add(x,B1) <gelu_of_a> y=Mul(m,plushalf)"},
    {"behind_a_bias_that_two_read", "a=Add(x,B) <gelu_of_a> h=Mul(m,plushalf) y=Sub(h,a)"},
    {"half_last", "<erf> m=Mul(x,p) y=Mul(m,plushalf)"},
    {"half_last_turned_round", "d=Div(x,root) e=Erf(d) p=Add(one,e) m=Mul(p,x) y=Mul(plushalf,m)"},
    {"half_first", "<erf> h=Mul(x,plushalf) y=Mul(h,p)"},
    {"half_first_turned_round", "d=Div(x,root) e=Erf(d) p=Add(one,e) h=Mul(plushalf,x) y=Mul(p,h)"},
    {"times", "d=Mul(x,inverse) e=Erf(d) p=Add(e,one) m=Mul(x,p) y=Mul(m,plushalf)"},
    {"times_half_first", "d=Mul(x,inverse) e=Erf(d) p=Add(e,one) h=Mul(x,plushalf) y=Mul(h,p)"},
    {"near", "d=Div(x,near) e=Erf(d) p=Add(e,one) m=Mul(x,p) y=Mul(m,plushalf)"},
    {"off", "d=Div(x,off) e=Erf(d) p=Add(e,one) m=Mul(x,p) y=Mul(m,plushalf)"},
    {"halves", "<erf> m=Mul(x,p) y=Mul(m,halves)"},
    {"half_of_one_dim", "<erf> m=Mul(x,p) y=Mul(m,half1)"},
    {"half_of_two_dims", "<erf> m=Mul(x,p) y=Mul(m,half11)"},
    {"of_a_product", "a=Mul(x,S) <gelu_of_a> y=Mul(m,plushalf)"},
    {"of_a_product_half_first",
     "a=Mul(x,S) d=Div(a,root) e=Erf(d) p=Add(e,one) h=Mul(a,plushalf) y=Mul(h,p)"},
    {"used_inside", "<erf> m=Mul(x,p) h=Mul(m,plushalf) y=Add(h,e)"}};
INSTANTIATE_TEST_SUITE_P(Gelus, KernelForms, ::testing::ValuesIn(kGelus), name_of);

const Case kGelusByTanh[] = {
    {"behind_a_bias",
     "b=Add(x,B) c=Pow(b,three) s=Mul(c,cubed) a=Add(b,s) z=Mul(a,outer) t=Tanh(z) p=Add(t,one) "
     "m=Mul(b,plushalf) y=Mul(m,p)"},
    {"of_another_factor",
     "c=Pow(x,three) s=Mul(c,cubed) a=Add(x,s) z=Mul(a,farther) t=Tanh(z) p=Add(t,one) "
     "h=Mul(x,plushalf) m=Mul(h,p) y=Neg(m)"},
    {"by_power", "<tanh> h=Mul(x,plushalf) y=Mul(h,p)"},
    {"turned_round",
     "c=Pow(x,three) s=Mul(cubed,c) a=Add(s,x) z=Mul(outer,a) t=Tanh(z) p=Add(one,t) "
     "h=Mul(plushalf,x) w=Mul(p,h) y=Neg(w)"},
    {"by_products",
     "s=Mul(x,cubed) q=Mul(s,x) p1=Add(q,one) o=Mul(x,outer) z=Mul(p1,o) t=Tanh(z) "
     "p=Add(t,one) h=Mul(x,plushalf) y=Mul(h,p)"},
    {"half_behind", "<tanh> m=Mul(x,p) y=Mul(m,plushalf)"},
    {"of_a_square",
     "c=Pow(x,two) s=Mul(c,cubed) a=Add(x,s) z=Mul(a,outer) t=Tanh(z) p=Add(t,one) "
     "h=Mul(x,plushalf) y=Mul(h,p)"},
    {"used_inside", "<tanh> h=Mul(x,plushalf) m=Mul(h,p) y=Add(m,z)"}};
INSTANTIATE_TEST_SUITE_P(GelusByTanh, KernelForms, ::testing::ValuesIn(kGelusByTanh), name_of);

const Case kProducts[] = {
    {"biased", "m=MatMul(x,M) y=Add(m,B)"},
    {"biased_by_a_scalar", "m=MatMul(x,M) y=Add(m,C)"},
    {"bias_that_is_computed", "b=Relu(B) m=MatMul(x,M) y=Add(m,b)"},
    {"of_a_transpose", "a=Relu(x) t=Transpose(a) y=MatMul(t,M8)"},
    {"biased_of_a_transpose", "a=Relu(x) t=Transpose(a) m=MatMul(t,M8) y=Add(m,B8)"},
    {"of_a_multiple", "a=Relu(x) s=Mul(a,C) y=MatMul(s,M)"},
    {"biased_of_a_multiple", "a=Relu(x) s=Mul(a,C) m=MatMul(s,M) y=Add(m,B)"},
    {"two", "a=MatMul(x,M) b=Relu(x) c=MatMul(b,M) y=Add(a,c)"},
    {"of_an_attention",
     "r=Relu(x) l0=Add(r,B) o=Add(l0,x) n=LayerNormalization(o,S,B) q=MatMul(n,M) "
     "qb=Add(q,B) k=MatMul(n,Mk) kb=Add(k,S) v=MatMul(n,Mv) vb=Add(v,B) w=Mul(qb,kb) "
     "u=Sub(w,vb) e=MatMul(u,M) f=Add(e,B) g=Add(f,n) y=Neg(g)"},
};
INSTANTIATE_TEST_SUITE_P(Products, KernelForms, ::testing::ValuesIn(kProducts), name_of);

const Case kSplits[] = {
    {"slices", "a=Relu(x) l=Slice(a,n0,n4,last) r=Slice(a,n4,n8,last) y=Sub(l,r)"},
    {"slices_that_overlap",
     "a=Relu(x) l=Slice(a,n0,n6,last) r=Slice(a,n4,n8,last) u=ReduceMean(r) "
     "s=Transpose(u) t=ReduceMean(s) y=Sub(l,t)"},
    {"slices_with_a_gap",
     "a=Relu(x) l=Slice(a,n0,n4,last) r=Slice(a,n6,n8,last) u=ReduceMean(r) "
     "s=Transpose(u) t=ReduceMean(s) y=Sub(l,t)"},
    {"slices_and_another",
     "a=Relu(x) l=Slice(a,n0,n4,last) r=Slice(a,n4,n8,last) q=Neg(a) z=ReduceMean(q) "
     "k=Slice(z,n0,n4,last) w=Sub(l,r) y=Sub(w,k)"},
};
INSTANTIATE_TEST_SUITE_P(Splits, KernelForms, ::testing::ValuesIn(kSplits), name_of);

const Case kGates[] = {
    {"silu", "a=Relu(x) s=Sigmoid(a) m=Mul(a,s) y=Neg(m)"},
    {"silu_turned_round", "a=Relu(x) s=Sigmoid(a) m=Mul(s,a) y=Neg(m)"},
    {"silu_of_a_multiple", "a=Relu(x) p=Mul(a,C) s=Sigmoid(p) m=Mul(a,s) y=Neg(m)"},
    {"sigmoid_used_again", "a=Relu(x) s=Sigmoid(a) m=Mul(a,s) y=Add(m,s)"},
    {"sigmoid_of_another", "a=Relu(x) s=Sigmoid(x) m=Mul(a,s) y=Neg(m)"},
};
INSTANTIATE_TEST_SUITE_P(Gates, KernelForms, ::testing::ValuesIn(kGates), name_of);

const Case kBytes[] = {
    {"softmax",
     "q=QuantizeLinear(x,C) d=DequantizeLinear(q,C) s=Softmax(d) p=QuantizeLinear(s,C) "
     "y=DequantizeLinear(p,C)"},
    {"softmax_to_floats", "q=QuantizeLinear(x,C) d=DequantizeLinear(q,C) s=Softmax(d) y=Neg(s)"},
    {"unsigned_that_two_read",
     "q=QuantizeLinear(x,C) d=DequantizeLinear(q,C) s=Softmax(d) p=QuantizeLinear(s,C) "
     "e=DequantizeLinear(p,C) a=Add(d,e) r=QuantizeLinear(a,C) y=DequantizeLinear(r,C)"},
    {"convolution_with_a_bias", "<biased_byte_conv> p=QuantizeLinear(a,C,Uz) y=DequantizeLinear(p,C,Uz)"},
    {"convolution_and_relu", "<byte_conv> r=Relu(a) p=QuantizeLinear(r,C,Uz) y=DequantizeLinear(p,C,Uz)"},
    {"relu_that_bytes_do_not_do",
     "<byte_conv> r=Relu(a) p=QuantizeLinear(r,C,U0) y=DequantizeLinear(p,C,U0)"},
    {"relu_of_signed_bytes",
     "<byte_conv> r=Relu(a) p=QuantizeLinear(r,C,Ileast) e=DequantizeLinear(p,C,Ileast) y=Neg(e)"},
    {"clip_that_bytes_do", "<byte_conv> r=Clip(a,zero) p=QuantizeLinear(r,C,Uz) y=DequantizeLinear(p,C,Uz)"},
    {"clip_that_bytes_do_not_do",
     "<byte_conv> r=Clip(a,zero,three) p=QuantizeLinear(r,C,Uz) y=DequantizeLinear(p,C,Uz)"},
    {"convolution_and_sum",
     "<byte_conv> p=QuantizeLinear(a,C,Uz) e=DequantizeLinear(p,C,Uz) s=Add(e,d) r=Relu(s) "
     "k=QuantizeLinear(r,C,Uz) y=DequantizeLinear(k,C,Uz)"}};
INSTANTIATE_TEST_SUITE_P(Bytes, KernelForms, ::testing::ValuesIn(kBytes), name_of);

const Case kQuantisedProducts[] = {
    {"dynamic", "<sums>U,q_z,U0) c=Cast(m) p=Mul(q_s,C) y=Mul(p,c)"},
    {"biased", "<sums>U,q_z,U0) <floats> y=Add(n,B)"},
    {"biased_by_a_row", "<sums>U,q_z,U0) <floats> y=Add(n,B1)"},
    {"bias_first", "<sums>U,q_z,U0) <floats> y=Add(B,n)"},
    {"bias_of_one_number", "<sums>U,q_z,U0) <floats> y=Add(n,C1)"},
    {"bias_of_all_rows", "<sums>U,q_z,U0) <floats> y=Add(n,F)"},
    {"biased_and_read_again", "<sums>U,q_z,U0) <floats> a=Add(n,B) y=Sub(a,n)"},
    {"scales_that_are_constant", "<sums>U,q_z,U0) c=Cast(m) p=Mul(C,S) y=Mul(c,p)"},
    {"scales_that_two_read", "<sums>U,q_z,U0) <floats> y=Mul(n,p)"},
    {"sums_that_two_read", "<sums>U,q_z,U0) <floats> y=Sub(n,c)"},
    {"bytes_that_two_read",
     "<sums>U,q_z,U0) <floats> k=MatMulInteger(q,I8,q_z,I0) d=Cast(k) r=Mul(q_s,S) l=Mul(d,r) "
     "y=Sub(n,l)"},
    {"without_zero_points", "<sums>U) <floats> y=Add(n,B)"},
    {"one_zero_point", "<sums>U,q_z) <floats> y=Add(n,B)"},
    {"signed", "<sums>I8,q_z,I0) <floats> y=Add(n,B)"},
    {"by_column", "<sums>I8,q_z,I64) c=Cast(m) p=Mul(q_s,S) n=Mul(c,p) y=Add(n,B)"},
    {"bytes_of_a_fixed_scale",
     "b=QuantizeLinear(x,C) q=DynamicQuantizeLinear(x) m=MatMulInteger(b,U) <floats> y=Add(n,B)"}};
INSTANTIATE_TEST_SUITE_P(QuantisedProducts, KernelForms, ::testing::ValuesIn(kQuantisedProducts), name_of);

const Case kBehindConvolutions[] = {
    {"pad", "<conv>r=Relu(a) p=Pad(r,pads) y=Conv(p,W)"},
    {"pad_that_two_read", "<conv>r=Relu(a) p=Pad(r,pads) b=Conv(p,W) y=Sub(b,p)"},
    {"norm_of_blocks", "<norm_of_blocks> r=Relu(n) y=Neg(r)"},
    {"norm_of_blocks_and_hard_swish", "<norm_of_blocks> r=HardSwish(n) y=Neg(r)"},
    {"norm_of_blocks_that_two_read", "<norm_of_blocks> r=Relu(n) y=Sub(r,n)"},
    {"nothing_added", "<conv>b=Conv(i,V) n=Add(b,zero) y=Add(n,a)"},
    {"to_channels_last", "<conv>t=ToLast(a) y=Relu(t)"},
    {"to_channels_last_and_read_again",
     "<conv>t=ToLast(a) r=LayerNormalization(t,S16,S16) f=FromLast(r) y=Add(f,a)"},
    {"from_channels_last", "<last_and_back> y=Conv(f,W)"},
    {"from_channels_last_for_two", "<last_and_back> a=Conv(f,W) y=Add(a,f)"},
    {"from_channels_last_for_two_convolutions", "<last_and_back> a=Conv(f,W) b=Conv(f,V) y=Sub(a,b)"},
    {"scalar", "<conv>m=Mul(a,C) y=Conv(m,W)"},
    {"scalar_first", "<conv>m=Mul(C,a) y=Conv(m,W)"},
    {"scalar_added", "<conv>m=Add(a,C) y=Conv(m,W)"},
    {"one_number", "<conv>m=Mul(a,C1) y=Conv(m,W)"},
    {"one_number_added", "<conv>m=Add(a,C1) y=Conv(m,W)"},
    {"channels", "<conv>m=Mul(a,K) y=Conv(m,W)"},
    {"channels_twice", "<conv>m=Mul(a,K) q=Mul(m,K) y=Conv(q,W)"},
    {"scalar_after_relu", "<conv>r=Relu(a) m=Mul(r,C) y=Conv(m,W)"},
    {"channels_after_relu", "<conv>r=Relu(a) m=Mul(r,K) y=Conv(m,W)", "Conv"},
    {"channels_first_after_relu", "<conv>r=Relu(a) m=Mul(K,r) y=Conv(m,W)", "Conv"},
    {"channels_added_after_relu", "<conv>r=Relu(a) m=Add(r,K) y=Conv(m,W)"},
    {"blocked_silu", "<conv>s=Sigmoid(a) m=Mul(a,s) y=Conv(m,W)"},
    {"silu_of_a_sum", "<conv>n=Add(a,i) s=Sigmoid(n) m=Mul(n,s) y=Conv(m,W)"},
    {"hard_swish", "<conv>h=HardSwish(a) y=Conv(h,W)"},
    {"hard_swish_in_parts", "<conv>s=HardSigmoid(a) m=Mul(a,s) y=Conv(m,W)"},
    {"hard_swish_of_channels", "<conv>k=Mul(a,K) s=HardSigmoid(k) m=Mul(s,k) y=Conv(m,W)"},
    {"hard_swish_used_again", "<conv>s=HardSigmoid(a) m=Mul(a,s) n=Add(m,a) y=Conv(n,W)"},
    {"hard_swish_of_a_sum", "<conv>b=Conv(i,V) n=Add(a,b) s=HardSigmoid(n) m=Mul(n,s) y=Conv(m,W)"},
    {"gelu", "<conv>d=Div(a,root) e=Erf(d) p=Add(e,one) m=Mul(a,p) h=Mul(m,plushalf) y=Conv(h,W)"},
    {"gelu_half_first", "<conv>d=Div(a,root) e=Erf(d) p=Add(e,one) h=Mul(a,plushalf) m=Mul(h,p) y=Conv(m,W)"},
    {"gelu_of_another_order",
     "<conv>d=Div(a,root) e=Erf(d) p=Add(e,one) h=Mul(p,plushalf) m=Mul(a,h) y=Conv(m,W)"},
    {"elu", "<conv>h=Elu(a) y=Conv(h,W)"}};
INSTANTIATE_TEST_SUITE_P(BehindConvolutions, KernelForms, ::testing::ValuesIn(kBehindConvolutions), name_of);

}  // namespace
}
