#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/onnx/imported_model.h"

namespace regraft::onnx {

struct NamedType {
  std::string name;
  std::string type;  // "float32[batch, 3, 224, 224]", "sequence of float32[n]"
};

/// A body of an If, Loop or Scan.
struct BodySummary {
  std::string path;
  std::size_t nodes = 0;  // Constant nodes left out
  std::string runs;       // for one run of the model: "1", "10 * n"
};

/// What `regraft inspect` says of a model.
struct ModelSummary {
  std::string producer;  // name and version; may be empty
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets;  // domain ("" is the default one) to version
  std::vector<NamedType> inputs, outputs;
  std::size_t nodes = 0;  // NodeProtos of the main graph, Constant nodes included
  std::size_t initializers = 0;
  std::uint64_t weight_bytes = 0;  // of initializers and Constant nodes, in bodies too, equal ones each
  bool external_data = false;
  std::size_t known_values = 0;  // computed by nodes though the same in every run
  std::map<std::string, std::size_t>
      op_counts;  // op type to nodes; with its domain outside of the default one
  std::map<std::string, std::size_t> opaque_ops;  // the same for nodes that rewrites leave alone
  std::vector<std::string> symbols;               // named dims of the inputs
  std::vector<BodySummary> bodies;
};

ModelSummary summarise(const ImportedModel& model);

}
