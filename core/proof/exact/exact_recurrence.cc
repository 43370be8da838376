#include "core/graph/op.h"
#include "core/proof/exact/exact_tensor.h"

namespace regraft::proof {
namespace {

using graph::Ints;
using graph::OpKind;

/// One forward pass, row by row of a batch. Gates as ONNX has them: i o f c of an LSTM, z r h of a GRU, whose
/// reset comes behind its product.
class Recurrence {
 public:
  Recurrence(OpKind kind, ExactInputs in) : in_(in), lstm_(kind == OpKind::lstm), hidden_(in[2]->dims[2]) {}

  std::vector<ExactTensor> run() const {
    const std::int64_t steps = in_[0]->dims[0], batch = in_[0]->dims[1];
    const Ints state{1, batch, hidden_};
    ExactTensor y = ExactTensor::zeros(in_[0]->dtype, {steps, 1, batch, hidden_});
    ExactTensor h = given(5, state), c = given(6, state);
    for (std::int64_t t = 0; t < steps; ++t) {
      const ExactTensor before = h;
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t k = 0; k < hidden_; ++k) {
          const std::size_t at = h.flat(Ints{0, b, k});
          const auto gate = [&](std::int64_t g) { return sigmoid(of_x(t, b, g, k) + of_h(before, b, g, k)); };
          if (lstm_) {
            c.values[at] = gate(2) * c.values[at] + gate(0) * tanh(of_x(t, b, 3, k) + of_h(before, b, 3, k));
            h.values[at] = gate(1) * tanh(c.values[at]);
          } else {
            const Exact kept = gate(0), fresh = tanh(of_x(t, b, 2, k) + gate(1) * of_h(before, b, 2, k));
            h.values[at] = (Exact::of(1.0) - kept) * fresh + kept * before.values[at];
          }
          y.values[y.flat(Ints{t, 0, b, k})] = h.values[at];
        }
    }
    return lstm_ ? std::vector{y, h, c} : std::vector{y, h};
  }

 private:
  static Exact sigmoid(const Exact& x) { return exact_function(OpKind::sigmoid, x); }
  static Exact tanh(const Exact& x) { return exact_function(OpKind::tanh, x); }

  ExactTensor given(std::size_t i, const Ints& dims) const {
    return i < in_.size() && in_[i] ? *in_[i] : ExactTensor::zeros(in_[0]->dtype, dims);
  }
  Exact bias(std::int64_t at) const {
    return in_.size() > 3 && in_[3] ? in_[3]->values[static_cast<std::size_t>(at)] : Exact{};
  }
  Exact of_x(std::int64_t t, std::int64_t batch, std::int64_t gate, std::int64_t k) const {
    const std::int64_t row = gate * hidden_ + k;
    Exact sum = bias(row);
    for (std::int64_t i = 0; i < in_[0]->dims[2]; ++i)
      sum = sum + in_[0]->at(Ints{t, batch, i}) * in_[1]->at(Ints{0, row, i});
    return sum;
  }
  Exact of_h(const ExactTensor& h, std::int64_t batch, std::int64_t gate, std::int64_t k) const {
    const std::int64_t row = gate * hidden_ + k;
    Exact sum = bias(in_[2]->dims[1] + row);
    for (std::int64_t i = 0; i < hidden_; ++i)
      sum = sum + h.at(Ints{0, batch, i}) * in_[2]->at(Ints{0, row, i});
    return sum;
  }

  ExactInputs in_;
  bool lstm_;
  std::int64_t hidden_;
};

}  // namespace

std::vector<ExactTensor> exact_recurrence(OpKind kind, ExactInputs inputs) {
  return Recurrence(kind, inputs).run();
}

}
