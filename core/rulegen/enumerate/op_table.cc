#include "core/rulegen/enumerate/op_table.h"

#include <algorithm>

namespace regraft::rulegen {
namespace {

using A = graph::Attr;
using K = graph::OpKind;
using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kBatch = 3, kChannels = 4, kHeight = 3, kWidth = 4;  // no two add up to a third

Form conv(const std::string& name, std::int64_t height, std::int64_t width, bool same, bool relu) {
  Form form;
  form.name = name;
  form.kind = K::conv;
  form.inputs = 2;
  form.relu = relu;
  const std::int64_t top = same ? height / 2 : 0, left = same ? width / 2 : 0;
  form.attrs = {{A::kernel_shape, Ints{height, width}},
                {A::strides, Ints{1, 1}},
                {A::pads, Ints{top, left, top, left}},
                {A::dilations, Ints{1, 1}}};
  return form;
}

Form pool(const std::string& name, K kind) {
  Form form;
  form.name = name;
  form.kind = kind;
  form.attrs = {
      {A::kernel_shape, Ints{3, 3}}, {A::strides, Ints{1, 1}},        {A::pads, Ints{1, 1, 1, 1}},
      {A::dilations, Ints{1, 1}},    {A::ceil_mode, std::int64_t{0}},
  };
  if (kind == K::average_pool) {
    form.attrs.erase(A::dilations);
    form.attrs.set(A::count_include_pad, std::int64_t{1});
  }
  return form;
}

Form simple(const std::string& name, K kind, std::uint8_t inputs, graph::AttrBlock attrs = {},
            std::uint8_t outputs = 1) {
  Form form;
  form.name = name;
  form.kind = kind;
  form.inputs = inputs;
  form.outputs = outputs;
  form.attrs = std::move(attrs);
  return form;
}

Form constant(const std::string& name, Form::Constant what, Ints dims) {
  Form form;
  form.name = name;
  form.kind = K::weight;
  form.inputs = 0;
  form.constant = what;
  form.constant_dims = std::move(dims);
  return form;
}

graph::AttrBlock axis(std::int64_t number) {
  return {{A::axis, number}};
}

struct Row {
  Form form;
  std::string set;
  bool taso = true;
  int rank = 0;  // of the operands: what leaves are needed
};

std::vector<Row> all_rows() {
  using C = Form::Constant;
  return {
      {simple("relu", K::relu, 1), "linear"},
      {simple("matmul", K::matmul, 2), "linear", true, 2},
      {simple("add", K::add, 2), "linear"},
      {simple("mul", K::mul, 2), "linear"},
      {simple("scale", K::mul, 2), "linear"},
      {simple("transpose", K::transpose, 1, {{A::perm, Ints{1, 0}}}), "movement", true, 2},
      {simple("concat-0", K::concat, 2, axis(0)), "movement"},
      {simple("concat-1", K::concat, 2, axis(1)), "movement"},
      {simple("split-0", K::split, 1, axis(0), 2), "movement"},
      {simple("split-1", K::split, 1, axis(1), 2), "movement"},
      {conv("conv3x3-same", 3, 3, true, false), "conv", true, 4},
      {conv("conv3x3-same-relu", 3, 3, true, true), "conv", true, 4},
      {conv("conv3x3-valid", 3, 3, false, false), "conv", true, 4},
      {conv("conv3x3-valid-relu", 3, 3, false, true), "conv", false, 4},
      {conv("conv1x3-same", 1, 3, true, false), "conv", true, 4},
      {conv("conv1x3-same-relu", 1, 3, true, true), "conv", true, 4},
      {pool("average3x3-same", K::average_pool), "conv", true, 4},
      {pool("max3x3-same", K::max_pool), "conv", true, 4},
      {simple("enlarge3x3", K::pad, 1,
              {{A::pads, Ints{0, 0, 1, 0, 0, 0, 1, 0}}, {A::mode, std::string("constant")}}),
       "conv", true, 4},
      {constant("eye", C::eye, {kChannels, kChannels}), "linear", true, 2},
      {constant("conv-eye", C::conv_eye, {kChannels, kChannels, 3, 3}), "conv", true, 4},
      {constant("average-kernel", C::average, {kChannels, 1, 3, 3}), "conv", true, 4},
      {constant("ones", C::ones, {kBatch, kChannels}), "linear", true, 2},
  };
}

std::vector<LeafSpec> leaves_of_rank(int rank) {
  if (rank == 2) {
    return {{"x0", {kBatch, kChannels}},   {"x1", {kBatch, kChannels}},    {"x2", {kBatch, kChannels}},
            {"x3", {kBatch, kChannels}},   {"w0", {kChannels, kChannels}}, {"w1", {kChannels, kChannels}},
            {"w2", {kChannels, kChannels}}};
  }
  const auto kernel = [](std::int64_t channels, std::int64_t h, std::int64_t w) {
    return Ints{kChannels, channels, h, w};
  };
  return {{"i0", {kBatch, kChannels, kHeight, kWidth}},
          {"i1", {kBatch, kChannels, kHeight, kWidth}},
          {"i2", {kBatch, kChannels, kHeight, kWidth}},
          {"k0", kernel(kChannels, 3, 3)},
          {"k1", kernel(kChannels, 3, 3)},
          {"k2", kernel(kChannels, 3, 3)},
          {"r0", kernel(kChannels, 1, 3)},
          {"r1", kernel(kChannels, 1, 3)},
          {"g0", kernel(1, 3, 3)}};
}

}  // namespace

std::vector<std::string> op_names() {
  std::vector<std::string> names = {"taso", "linear", "movement", "conv"};
  for (const Row& row : all_rows()) names.push_back(row.form.name);
  return names;
}

OpTable op_table(const std::vector<std::string>& names) {
  const std::vector<std::string> known = op_names();
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string all;
    for (const std::string& one : known) all += (all.empty() ? "" : ", ") + one;
    throw RulegenError("there is no op '" + name + "'", "op set", "give some of: " + all);
  }
  const auto wanted = [&](const Row& row) {
    return row.form.name == "relu" || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
             return name == row.form.name || name == row.set || (name == "taso" && row.taso);
           });
  };
  OpTable table;
  bool matrices = false, images = false, scalar = false;
  for (const Row& row : all_rows()) {
    if (!wanted(row)) continue;
    if (row.form.name == "relu") table.relu = static_cast<std::uint16_t>(table.forms.size());
    const bool commutative = (row.form.kind == K::add || row.form.kind == K::mul) && row.form.name != "scale";
    table.commutative_forms |= static_cast<std::uint64_t>(commutative) << table.forms.size();
    table.forms.push_back(row.form);
    matrices = matrices || row.rank == 2;
    images = images || row.rank == 4;
    scalar = scalar || row.form.name == "scale";
  }
  if (matrices || !images) table.leaves = leaves_of_rank(2);
  if (images)
    for (LeafSpec& leaf : leaves_of_rank(4)) table.leaves.push_back(std::move(leaf));
  if (scalar) table.leaves.push_back({"s0", {}});
  return table;
}

OpTable on_other_shapes(OpTable table, int variant) {
  // Batch, channels, height, width; the kernels' own sizes stay.
  const std::int64_t batch = variant % 2 == 1 ? 5 : 1, channels = variant % 2 == 1 ? 2 : 6;
  const auto change = [&](std::int64_t d) { return d == kChannels ? channels : d == kBatch ? batch : d; };
  for (LeafSpec& leaf : table.leaves) {
    for (std::size_t d = 0; d < std::min<std::size_t>(leaf.dims.size(), 2); ++d)
      leaf.dims[d] = change(leaf.dims[d]);
    if (leaf.dims.size() == 4 && leaf.dims[3] == kWidth) leaf.dims[3] = kWidth + variant;
  }
  for (Form& form : table.forms)
    for (std::size_t d = 0; d < std::min<std::size_t>(form.constant_dims.size(), 2); ++d)
      form.constant_dims[d] = change(form.constant_dims[d]);
  table.most_elements *= 4;  // more than any size has grown: what fits there fits here
  return table;
}

}
