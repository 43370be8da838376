#pragma once

#include <map>

#include "core/corpus/dialect.h"
#include "core/corpus/model.h"

namespace regraft::corpus {

/// A model while it is built, node by node. Layers (basic_ops.h, layers.h, ...) are functions that take one.
class Net {
 public:
  explicit Net(const Dialect& dialect);

  const Dialect& dialect() const { return dialect_; }

  Tensor input(const std::string& name, Ints dims, Element element = Element::float32);
  void output(const Tensor& value);

  /// A node with one output, or with one for each entry of `dims`. Its elements are those of the first input.
  Tensor node(const std::string& op, const std::vector<Tensor>& inputs, Ints dims,
              std::vector<Attr> attrs = {});
  std::vector<Tensor> nodes(const std::string& op, const std::vector<Tensor>& inputs,
                            const std::vector<Ints>& dims, std::vector<Attr> attrs = {});
  /// A weight, drawn later.
  Tensor weight(Ints dims, double deviation, double mean = 0);
  /// A table of the model that is no weight.
  Tensor table(Ints dims, std::vector<float> values);
  Tensor table(Ints dims, Ints values);

  /// Small constants: nodes or initializers, as the exporter writes them.
  Tensor scalar(double value);
  Tensor index(std::int64_t value);
  Tensor list(const Ints& values);

  /// Multiplications and additions of a node, of `rows` rows that share each weight.
  void count(std::int64_t multiply_adds, std::int64_t rows);
  /// About how long the model runs on one core.
  double estimate_us() const { return estimate_us_; }

  const Model& model() const { return model_; }

 private:
  std::string fresh(const std::string& stem);
  Tensor kept(Weight weight, const std::string& stem);
  Tensor constant(Weight weight, const std::string& key);

  Dialect dialect_;
  Model model_;
  std::map<std::string, Tensor> constants_{};  // initializers that are shared, by their contents
  std::size_t names_ = 0;
  double estimate_us_ = 0;
};

}
