#include "core/exec/torch/torch_window.h"

namespace regraft::exec {

using graph::Attr;

TorchWindow::TorchWindow(const graph::AttrBlock& attrs)
    : kernel(attrs.ints(Attr::kernel_shape)), strides(attrs.ints(Attr::strides)) {
  const graph::Ints& pads = attrs.ints(Attr::pads);
  const auto half = static_cast<std::ptrdiff_t>(pads.size() / 2);
  begin.assign(pads.begin(), pads.begin() + half);
  end.assign(pads.begin() + half, pads.end());
  dilations = attrs.has(Attr::dilations) ? attrs.ints(Attr::dilations) : graph::Ints(kernel.size(), 1);
}

// LibTorch lists padding from the last dim on, begin and end of each.
at::Tensor pad_spatial(const at::Tensor& x, const graph::Ints& begin, const graph::Ints& end, double value) {
  graph::Ints order;
  for (std::size_t i = begin.size(); i-- > 0;) {
    order.push_back(begin[i]);
    order.push_back(end[i]);
  }
  return at::constant_pad_nd(x, order, value);
}

}
