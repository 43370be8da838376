#include "core/graph/known_texts.h"

#include <array>

namespace regraft::graph {
namespace {

constexpr std::array<std::string_view, 2> kGeluForms{"none", "tanh"};
constexpr std::array<std::string_view, 4> kPadModes{"constant", "edge", "reflect", "wrap"};

struct TextRow {
  OpKind kind;
  Attr attr;
  std::span<const std::string_view> texts;
};

constexpr std::array<TextRow, 2> kTexts{{{OpKind::gelu, Attr::approximate, kGeluForms},  // of opset 20
                                         {OpKind::pad, Attr::mode, kPadModes}}};         // 'wrap' since 19

}  // namespace

std::span<const std::string_view> known_texts(OpKind kind, Attr attr) {
  for (const TextRow& row : kTexts)
    if (row.kind == kind && row.attr == attr) return row.texts;
  return {};
}

}
