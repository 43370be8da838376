#include "core/onnx/inline_branches.h"

#include <string>
#include <unordered_set>

#include "core/onnx/node_renaming.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;

class BranchInliner {
 public:
  BranchInliner(pb::ModelProto& model, const DecidedBranches& decided, std::size_t limit)
      : decided_(decided), limit_(limit), names_(model.graph()) {}

  std::size_t run(pb::GraphProto& main) {
    expand(main);
    return count_;
  }

 private:
  void expand(pb::GraphProto& graph) {
    google::protobuf::RepeatedPtrField<pb::NodeProto> nodes;
    graph.mutable_node()->Swap(&nodes);
    for (pb::NodeProto& node : nodes) {
      if (const pb::GraphProto* branch = taken_branch(node)) {
        ++count_;
        place(node, *branch, graph);
        continue;
      }
      for (pb::AttributeProto& attribute : *node.mutable_attribute())
        if (attribute.has_g()) expand(*attribute.mutable_g());
      graph.add_node()->Swap(&node);
    }
  }

  const pb::GraphProto* taken_branch(const pb::NodeProto& node) const {
    const auto found = decided_.find(&node);
    if (found == decided_.end() || count_ >= limit_) return nullptr;
    for (const pb::AttributeProto& attribute : node.attribute()) {
      if (attribute.name() != (found->second ? "then_branch" : "else_branch") || !attribute.has_g()) continue;
      const pb::GraphProto& branch = attribute.g();
      const bool plain = branch.sparse_initializer_size() == 0 &&
                         branch.quantization_annotation_size() == 0 && branch.input_size() == 0 &&
                         branch.output_size() >= node.output_size();
      return plain ? &branch : nullptr;
    }
    return nullptr;
  }

  void place(const pb::NodeProto& node, const pb::GraphProto& branch, pb::GraphProto& out) {
    google::protobuf::RepeatedPtrField<pb::NodeProto> nodes;
    for (const pb::TensorProto& tensor : branch.initializer()) add_constant(tensor, nodes);
    nodes.MergeFrom(branch.node());
    NodeRenaming names(names_, "");
    std::unordered_set<std::string> made;
    for (const pb::NodeProto& inner : nodes) made.insert(inner.output().begin(), inner.output().end());
    for (int i = 0; i < node.output_size(); ++i) {
      const std::string& name = branch.output(i).name();
      if (node.output(i).empty() || (made.contains(name) && names.set(name, node.output(i)))) continue;
      // It comes from outside, or is another output as well.
      pb::NodeProto& copy = *nodes.Add();
      copy.set_op_type("Identity");
      copy.add_input(name);
      copy.add_output(names_.make(name));
      names.set(copy.output(0), node.output(i));
    }
    names.define(nodes);
    for (pb::NodeProto& inner : nodes) {
      names.apply(inner);
      out.add_node()->Swap(&inner);
    }
    for (const pb::ValueInfoProto& info : branch.value_info()) {
      if (!names.changes(info.name())) continue;
      pb::ValueInfoProto& moved = *out.add_value_info();
      moved = info;
      moved.set_name(names.of(info.name()));
    }
  }

  static void add_constant(const pb::TensorProto& tensor,
                           google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes) {
    pb::NodeProto& constant = *nodes.Add();
    constant.set_op_type("Constant");
    constant.add_output(tensor.name());
    pb::AttributeProto& value = *constant.add_attribute();
    value.set_name("value");
    value.set_type(pb::AttributeProto::TENSOR);
    *value.mutable_t() = tensor;
    value.mutable_t()->clear_name();
  }

  const DecidedBranches& decided_;
  std::size_t limit_, count_ = 0;
  FreshNames names_;
};

}  // namespace

std::size_t inline_branches(pb::ModelProto& model, const DecidedBranches& decided, std::size_t limit) {
  return BranchInliner(model, decided, limit).run(*model.mutable_graph());
}

}
