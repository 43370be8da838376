#include "core/rulegen/enumerate/make_instance.h"

#include <algorithm>

namespace regraft::rulegen {
namespace {

using graph::Value;
using A = graph::Attr;
using Dims = std::vector<std::int64_t>;
using K = graph::OpKind;

class InstanceMaker {
 public:
  InstanceMaker(const Term& term, const std::vector<int>& ranks, const std::vector<Form>& forms,
                const InstanceOptions& options, graph::GraphBuilder& builder, Rng& rng)
      : term_(term), forms_(forms), options_(options), b_(builder), rng_(rng), ranks_(ranks) {}

  bool make() {
    leaves_.resize(ranks_.size());
    if (!options_.own_attributes) shift_ranks();
    for (const TermNode& node : term_.nodes) {
      if (!add(node)) return false;
    }
    for (Ref root : term_.roots) {
      if (root.is_leaf()) return false;
      b_.output(value(root));
    }
    return true;
  }

 private:
  std::int64_t pick(std::initializer_list<std::int64_t> from) {
    return *(from.begin() + static_cast<std::ptrdiff_t>(rng_.below(from.size())));
  }

  // Rules of matrices are tried on batches of them, rules of axes on other ranks.
  void shift_ranks() {
    const bool windows = std::any_of(term_.nodes.begin(), term_.nodes.end(), [&](const TermNode& n) {
      const K kind = forms_[n.form].kind;
      return kind == K::conv || kind == K::max_pool || kind == K::average_pool || kind == K::pad;
    });
    if (windows) return;
    const int shift = static_cast<int>(rng_.below(3)) - 1;
    for (int& rank : ranks_) {
      if (rank > 0) rank = std::clamp(rank + shift, 1, 4);
    }
  }

  Value value(Ref ref) const {
    if (ref.is_leaf()) return leaves_[static_cast<std::size_t>(ref.leaf_number())];
    return {nodes_[static_cast<std::size_t>(ref.node())], static_cast<std::uint32_t>(ref.port())};
  }
  Dims dims(Value v) const {
    const auto& held = b_.graph().type(v).dims;
    return Dims(held.begin(), held.end());
  }
  bool given(Ref ref) const { return value(ref).present(); }

  bool add(const TermNode& node) {
    const Form& form = forms_[node.form];
    if (form.constant != Form::Constant::none) return false;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (given(node.inputs[i])) continue;
      const Dims leaf = leaf_dims(form, node, i);
      const bool weight =
          options_.constant_weights && i == 1 && (form.kind == K::conv || form.kind == K::matmul);
      leaves_[static_cast<std::size_t>(node.inputs[i].leaf_number())] =
          weight ? b_.weight(leaf) : b_.input(leaf);
    }
    std::vector<Value> inputs;
    for (Ref input : node.inputs) inputs.push_back(value(input));
    const bool elementwise = form.kind == K::add || form.kind == K::mul;
    if (elementwise && !options_.broadcast && dims(inputs[0]) != dims(inputs[1]) && !dims(inputs[1]).empty())
      return false;
    if (!fits(form.kind, inputs)) return false;
    try {
      nodes_.push_back(b_.node(form.kind, inputs, attributes(form, inputs)));
    } catch (const graph::GraphError&) {
      return false;
    }
    return true;
  }

  // Draws that fit nowhere are many: most are seen here, which is cheaper than an exception.
  bool fits(K kind, const std::vector<Value>& inputs) const {
    if (inputs.size() < 2) return true;
    const Dims a = dims(inputs[0]), b = dims(inputs[1]);
    switch (kind) {
      case K::matmul:
        return a.size() >= 2 && b.size() >= 2 && a.back() == b[b.size() - 2];
      case K::conv:
        return a.size() == 4 && b.size() == 4 && b[1] > 0 && a[1] % b[1] == 0 && b[0] % (a[1] / b[1]) == 0;
      case K::add:
      case K::mul:
        for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
          const std::int64_t x = a[a.size() - i], y = b[b.size() - i];
          if (x != y && x != 1 && y != 1) return false;
        }
        return true;
      case K::concat: {
        std::size_t different = 0;
        for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) different += a[i] != b[i] ? 1 : 0;
        return a.size() == b.size() && different <= 1;
      }
      default:
        return true;
    }
  }

  Dims random_dims(int rank, std::initializer_list<std::int64_t> from) {
    Dims out;
    for (int i = 0; i < rank; ++i) out.push_back(pick(from));
    return out;
  }

  int rank_of(const TermNode& node, std::size_t i, int otherwise) const {
    const int rank = ranks_[static_cast<std::size_t>(node.inputs[i].leaf_number())];
    return rank == kAnyRank ? otherwise : rank;
  }

  // Shape of leaf i of a node, to fit the operands that are there already.
  Dims leaf_dims(const Form& form, const TermNode& node, std::size_t i) {
    const std::size_t other = i == 0 ? 1 : 0;
    const bool fit = node.inputs.size() > 1 && given(node.inputs[other]);
    const Dims with = fit ? dims(value(node.inputs[other])) : Dims{};
    switch (form.kind) {
      case K::conv:
        return i == 0 ? image_dims(with) : kernel_dims(form, with);
      case K::max_pool:
      case K::average_pool:
      case K::global_average_pool:
        return {pick({1, 2}), pick({1, 2, 4}), pick({3, 4}), pick({3, 5})};
      case K::matmul:
        return matrix_dims(with, i, rank_of(node, i, static_cast<int>(pick({2, 2, 3}))));
      case K::concat:
        return fit ? beside(form, with)
                   : random_dims(rank_of(node, i, static_cast<int>(pick({2, 3, 4}))), {1, 2, 3});
      default:
        break;
    }
    if (fit) return elementwise_dims(with, ranks_[static_cast<std::size_t>(node.inputs[i].leaf_number())]);
    const int rank = rank_of(node, i, static_cast<int>(pick({1, 2, 3, 4})));
    if (options_.repeated >= 0) return dims_to_repeat(rank);
    return rank == 4 ? Dims{pick({1, 2}), pick({1, 2, 4}), pick({1, 3}), pick({1, 3})}
                     : random_dims(rank, {1, 2, 3, 4});
  }

  Dims image_dims(const Dims& kernel) {
    const std::int64_t channels = kernel.size() == 4 ? kernel[1] * pick({1, 1, 2}) : pick({2, 4});
    return {pick({1, 2}), channels, pick({3, 4}), pick({3, 5})};
  }
  Dims kernel_dims(const Form& form, const Dims& image) {
    const graph::AttrBlock& window = drawn(form, 4);
    const Dims& kernel = window.ints(A::kernel_shape);
    if (image.size() != 4) return {pick({2, 4}), pick({1, 2}), kernel[0], kernel[1]};
    const std::int64_t group = image[1] % 2 == 0 ? pick({1, 1, 2}) : 1;
    return {group * pick({1, 2, 3}), image[1] / group, kernel[0], kernel[1]};
  }
  Dims matrix_dims(const Dims& with, std::size_t i, int rank) {
    if (with.empty()) return random_dims(rank, {1, 2, 3});
    if (with.size() < 2) return random_dims(2, {1, 2, 3});
    Dims out(with.begin(), with.end() - 2);
    if (rank == 2) out.clear();
    const std::int64_t free = pick({1, 2, 3, with.back()});
    const Dims last = i == 0 ? Dims{free, with[with.size() - 2]} : Dims{with.back(), free};
    out.insert(out.end(), last.begin(), last.end());
    return out;
  }
  Dims beside(const Form& form, Dims with) {
    const std::int64_t axis = drawn(form, static_cast<int>(with.size())).integer(A::axis);
    if (axis >= 0 && axis < static_cast<std::int64_t>(with.size()))
      with[static_cast<std::size_t>(axis)] = pick({1, 2, 3, with[static_cast<std::size_t>(axis)]});
    return with;
  }
  // Larger than one except for the dim in question; images and weights of four.
  Dims dims_to_repeat(int rank) {
    Dims out;
    for (int d = 0; d < rank; ++d) {
      const std::int64_t large = rank < 4 ? pick({2, 3}) : d == 0 ? pick({2, 4}) : d == 1 ? 2 : 3;
      out.push_back(d == options_.repeated && rng_.below(2) == 0 ? 1 : large);
    }
    return out;
  }
  Dims elementwise_dims(Dims with, int rank) {
    if (rank == 0 || !options_.broadcast) return rank == 0 ? Dims{} : with;
    if (const auto at = static_cast<std::size_t>(options_.repeated); options_.repeated >= 0) {
      if (at < with.size() && rng_.below(2) == 0) with[at] = with[at] == 1 ? pick({2, 3}) : 1;
      return with;
    }
    switch (rng_.below(4)) {
      case 0:
        for (std::int64_t& d : with) d = rng_.below(2) == 0 ? 1 : d;
        break;
      case 1:
        if (!with.empty()) with.erase(with.begin());
        break;
      default:
        break;
    }
    return with;
  }

  // Attributes that stand for those of a form: equal ones for equal ones.
  const graph::AttrBlock& drawn(const Form& form, int rank) {
    for (const auto& [kind, attrs, made] : drawn_) {
      if (kind == form.kind && attrs == form.attrs) return made;
    }
    graph::AttrBlock made = form.attrs;
    if (!options_.own_attributes || made.entries().empty()) vary(form.kind, rank, made);
    drawn_.push_back({form.kind, form.attrs, std::move(made)});
    return std::get<2>(drawn_.back());
  }

  void vary(K kind, int rank, graph::AttrBlock& attrs) {
    if (kind == K::conv || kind == K::max_pool || kind == K::average_pool) {
      const Dims kernel = {pick({1, 3}), pick({1, 2, 3})};
      attrs.set(A::kernel_shape, kernel);
      attrs.set(A::strides, Dims{pick({1, 1, 2}), pick({1, 1, 2})});
      const std::int64_t top = kernel[0] / 2 * pick({0, 1}), left = kernel[1] / 2 * pick({0, 1});
      attrs.set(A::pads, Dims{top, left, top, left});
      if (kind == K::average_pool) attrs.set(A::count_include_pad, pick({0, 1}));
    }
    if (kind == K::concat || kind == K::split)
      attrs.set(A::axis,
                static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(std::max(rank, 1)))));
  }

  graph::AttrBlock attributes(const Form& form, const std::vector<Value>& inputs) {
    const Dims x = dims(inputs[0]);
    graph::AttrBlock attrs = form.attrs;
    if (form.kind == K::conv || form.kind == K::max_pool || form.kind == K::average_pool ||
        form.kind == K::concat || form.kind == K::split) {
      attrs = drawn(form, static_cast<int>(x.size()));
    }
    if (form.kind == K::conv) {
      const Dims w = dims(inputs[1]);
      if (x.size() != 4 || w.size() != 4 || w[1] == 0 || x[1] % w[1] != 0)
        throw graph::GraphError("the draw does not fit", "instance", "");
      attrs.set(A::kernel_shape, Dims(w.begin() + 2, w.end()));
      attrs.set(A::group, x[1] / w[1]);
    }
    if (form.kind == K::split) {
      const auto axis = static_cast<std::size_t>(attrs.integer(A::axis));
      if (axis >= x.size() || x[axis] < 2) throw graph::GraphError("nothing to split", "instance", "");
      const std::int64_t first =
          1 + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(x[axis] - 1)));
      attrs.set(A::split, Dims{first, x[axis] - first});
    }
    if (form.kind == K::transpose && attrs.ints(A::perm).size() != x.size()) {
      Dims perm(x.size());
      for (std::size_t d = 0; d < perm.size(); ++d) perm[d] = static_cast<std::int64_t>(d);
      if (perm.size() > 1) std::swap(perm.back(), perm[perm.size() - 2]);
      attrs.set(A::perm, perm);
    }
    return attrs;
  }

  const Term& term_;
  const std::vector<Form>& forms_;
  const InstanceOptions& options_;
  graph::GraphBuilder& b_;
  Rng& rng_;
  std::vector<int> ranks_;
  std::vector<Value> leaves_;
  std::vector<graph::NodeId> nodes_;
  std::vector<std::tuple<K, graph::AttrBlock, graph::AttrBlock>> drawn_;
};

}  // namespace

bool make_instance(const Term& term, const std::vector<int>& ranks, const std::vector<Form>& forms,
                   const InstanceOptions& options, graph::GraphBuilder& builder, Rng& rng) {
  return InstanceMaker(term, ranks, forms, options, builder, rng).make();
}

std::string describe(const graph::Graph& graph) {
  std::string leaves, ops;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id)) continue;
    const graph::Node& node = graph.node(id);
    std::string dims;
    for (std::int64_t d : graph.type({id, 0}).dims) dims += (dims.empty() ? "" : ",") + std::to_string(d);
    if (node.kind == K::input || node.kind == K::weight) {
      leaves += (leaves.empty() ? "" : " ") + ("x" + std::to_string(node.origin) + "[" + dims + "]");
      continue;
    }
    ops += "; " + std::string(graph::op_info(node.kind).name);
    for (const auto& [attr, held] : graph.attrs(id).entries())
      ops += " " + std::string(graph::attr_name(attr)) + "=" + graph::to_string(held);
  }
  return leaves + ops;
}

}
