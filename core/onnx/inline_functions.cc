#include "core/onnx/inline_functions.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <google/protobuf/unknown_field_set.h>

#include "core/onnx/node_renaming.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using Nodes = google::protobuf::RepeatedPtrField<pb::NodeProto>;
using Key = std::pair<std::string, std::string>;  // domain and name

// Fields that came after the messages that we have.
constexpr int kFunctionDefaults = 11, kFunctionValueInfo = 12, kFunctionMetadata = 14;
constexpr int kNodeMetadata = 9;
constexpr int kMostNodes = 200'000;  // placed; functions that call each other twice would fill the memory

std::string plain_domain(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

Key key_of(const pb::NodeProto& node) {
  return {plain_domain(node.domain()), node.op_type()};
}

bool has_unknown_but(const google::protobuf::UnknownFieldSet& fields, std::initializer_list<int> known) {
  for (int i = 0; i < fields.field_count(); ++i)
    if (std::ranges::find(known, fields.field(i).number()) == known.end()) return true;
  return false;
}

using Attributes = std::map<std::string, pb::AttributeProto>;

class Inliner {
 public:
  Inliner(pb::ModelProto& model, std::size_t limit) : model_(model), limit_(limit), names_(model.graph()) {
    for (const pb::FunctionProto& function : model.functions())
      if (!functions_.emplace(Key{plain_domain(function.domain()), function.name()}, &function).second)
        limit_ = 0;  // told apart by what we do not know
    for (const auto& opset : model.opset_import()) versions_[plain_domain(opset.domain())] = opset.version();
  }

  std::size_t run() {
    expand(*model_.mutable_graph());
    if (count_ > 0) drop_uncalled();
    return count_;
  }

 private:
  void expand(pb::GraphProto& graph) {
    Nodes out;
    for (pb::NodeProto& node : *graph.mutable_node()) place(node, out);
    graph.mutable_node()->Swap(&out);
  }

  /// Adds the node to `out`, or what it calls.
  void place(pb::NodeProto& node, Nodes& out) {
    const pb::FunctionProto* function = callee(node);
    if (function == nullptr) {
      for (pb::AttributeProto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) expand(*attribute.mutable_g());
        for (pb::GraphProto& inner : *attribute.mutable_graphs()) expand(inner);
      }
      out.Add()->Swap(&node);
      return;
    }
    ++count_;
    placed_ += function->node_size();
    inlined_.insert(key_of(node));
    open_.push_back(function);
    for (pb::NodeProto& made : body_of(node, *function)) place(made, out);
    open_.pop_back();
  }

  /// The function that the node calls and that can take its place.
  const pb::FunctionProto* callee(const pb::NodeProto& node) const {
    const auto found = functions_.find(key_of(node));
    if (count_ >= limit_ || placed_ > kMostNodes || found == functions_.end() || key_of(node).first.empty())
      return nullptr;
    const pb::FunctionProto& function = *found->second;
    const bool fits = node.input_size() <= function.input_size() &&
                      node.output_size() <= function.output_size() &&
                      !has_unknown_but(node.unknown_fields(), {kNodeMetadata}) &&
                      !has_unknown_but(function.unknown_fields(),
                                       {kFunctionDefaults, kFunctionValueInfo, kFunctionMetadata});
    const bool recursive = std::ranges::find(open_, &function) != open_.end();
    return fits && !recursive && is_whole(function) && speaks_alike(function) && reads_defaults(function)
               ? &function
               : nullptr;
  }

  /// Every name is defined once, and so is every output.
  static bool is_whole(const pb::FunctionProto& function) {
    std::set<std::string> defined(function.input().begin(), function.input().end());
    for (const pb::NodeProto& node : function.node())
      for (const std::string& output : node.output())
        if (!output.empty() && !defined.insert(output).second) return false;
    return std::ranges::all_of(function.output(),
                               [&](const std::string& output) { return defined.contains(output); });
  }

  /// The nodes mean in the model what they mean in the function.
  bool speaks_alike(const pb::FunctionProto& function) const {
    std::map<std::string, std::int64_t> versions;
    for (const auto& opset : function.opset_import())
      versions[plain_domain(opset.domain())] = opset.version();
    const auto known = [&](const auto& self, const Nodes& nodes) -> bool {
      return std::ranges::all_of(nodes, [&](const pb::NodeProto& node) {
        const auto here = versions_.find(plain_domain(node.domain()));
        const auto there = versions.find(plain_domain(node.domain()));
        return here != versions_.end() && there != versions.end() && here->second == there->second &&
               std::ranges::all_of(node.attribute(), [&](const pb::AttributeProto& attribute) {
                 return attribute.graphs_size() == 0 &&
                        (!attribute.has_g() || self(self, attribute.g().node()));
               });
      });
    };
    return known(known, function.node());
  }

  // --- attributes

  static std::vector<pb::AttributeProto> defaults(const pb::FunctionProto& function) {
    std::vector<pb::AttributeProto> found;
    const auto& fields = function.unknown_fields();
    for (int i = 0; i < fields.field_count(); ++i) {
      if (fields.field(i).number() != kFunctionDefaults) continue;
      const bool text = fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
      pb::AttributeProto& attribute = found.emplace_back();
      if (!text || !attribute.ParseFromString(fields.field(i).length_delimited())) attribute.Clear();
    }
    return found;
  }

  /// Tensors among the defaults did not pass through what takes large contents out of messages.
  static bool reads_defaults(const pb::FunctionProto& function) {
    return std::ranges::all_of(defaults(function), [](const pb::AttributeProto& attribute) {
      const auto type = attribute.type();
      return !attribute.name().empty() && type >= pb::AttributeProto::FLOAT &&
             type <= pb::AttributeProto::STRINGS && !attribute.has_t() && !attribute.has_g();
    });
  }

  /// References to the function's attributes become what the call gives; those that it does not give go.
  static void resolve_attributes(pb::NodeProto& node, const Attributes& given) {
    google::protobuf::RepeatedPtrField<pb::AttributeProto> kept;
    for (pb::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.ref_attr_name().empty()) {
        if (attribute.has_g())
          for (pb::NodeProto& inner : *attribute.mutable_g()->mutable_node())
            resolve_attributes(inner, given);
        kept.Add()->Swap(&attribute);
        continue;
      }
      const auto found = given.find(attribute.ref_attr_name());
      if (found == given.end()) continue;
      pb::AttributeProto& resolved = *kept.Add();
      resolved = found->second;
      resolved.set_name(attribute.name());
    }
    node.mutable_attribute()->Swap(&kept);
  }

  Nodes body_of(const pb::NodeProto& node, const pb::FunctionProto& function) {
    Attributes given;
    for (const pb::AttributeProto& attribute : defaults(function)) given[attribute.name()] = attribute;
    for (const pb::AttributeProto& attribute : node.attribute()) given[attribute.name()] = attribute;
    Nodes nodes = function.node();
    NodeRenaming names(names_, function.name() + "_");
    for (int i = 0; i < function.input_size(); ++i)
      names.set(function.input(i), i < node.input_size() ? node.input(i) : "");
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty() || names.set(function.output(i), node.output(i))) continue;
      // It is an input of the function, or another output as well.
      pb::NodeProto& copy = *nodes.Add();
      copy.set_op_type("Identity");
      copy.add_input(function.output(i));
      copy.add_output(names_.make(function.name()));
      names.set(copy.output(0), node.output(i));
    }
    names.define(nodes);
    for (pb::NodeProto& inner : nodes) {
      resolve_attributes(inner, given);
      names.apply(inner);
    }
    return nodes;
  }

  // --- functions

  void drop_uncalled() {
    for (bool again = true; again;) {
      again = false;
      std::set<Key> called;
      const auto note = [&](const auto& self, const Nodes& nodes) -> void {
        for (const pb::NodeProto& node : nodes) {
          called.insert(key_of(node));
          for (const pb::AttributeProto& attribute : node.attribute()) {
            if (attribute.has_g()) self(self, attribute.g().node());
            for (const pb::GraphProto& inner : attribute.graphs()) self(self, inner.node());
          }
        }
      };
      note(note, model_.graph().node());
      for (const pb::FunctionProto& function : model_.functions()) note(note, function.node());
      auto& functions = *model_.mutable_functions();
      for (int i = functions.size(); i-- > 0;) {
        const Key key{plain_domain(functions[i].domain()), functions[i].name()};
        if (!inlined_.contains(key) || called.contains(key)) continue;
        functions.DeleteSubrange(i, 1);
        again = true;
      }
    }
  }

  pb::ModelProto& model_;
  std::size_t limit_, count_ = 0;
  int placed_ = 0;
  FreshNames names_;
  std::map<Key, const pb::FunctionProto*> functions_;
  std::map<std::string, std::int64_t> versions_;  // of the model's domains
  std::vector<const pb::FunctionProto*> open_;    // whose nodes are being placed, outermost first
  std::set<Key> inlined_;
};

}  // namespace

std::size_t inline_functions(pb::ModelProto& model, std::size_t limit) {
  if (limit == 0 || model.functions_size() == 0 || model.training_info_size() > 0) return 0;
  return Inliner(model, limit).run();
}

}
