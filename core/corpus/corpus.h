#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace regraft::corpus {

class CorpusError : public Error {
 public:
  using Error::Error;
};

/// What a family is for: to learn from, to choose by, or to report on. Families are split as a whole, so that
/// what is reported is of models unlike those that were learned from.
enum class Split : std::uint8_t { train, validation, test };
constexpr std::array<std::string_view, 3> enum_names(Split) {
  return {"train", "validation", "test"};
}

struct FamilyInfo {
  std::string_view name;
  Split split = Split::train;
  std::string_view about;
};

/// By name.
std::span<const FamilyInfo> families();

/// Whether a model's name is one of the corpus: it starts with "corpus:".
bool is_corpus_name(std::string_view model);

/// The models that a name stands for. "corpus:FAMILY:SEED" is one; SEED may be a range of seeds, such as
/// 0-24, and FAMILY a split: all of its families, each with all of the seeds. Any other name stands for
/// itself. Throws CorpusError for a family that is not known, with the nearest one, and for seeds that are
/// none.
std::vector<std::string> expanded(const std::string& model);

/// One model as the bytes of an .onnx file: the same name gives the same bytes. Its family draws widths,
/// depths and sizes from what people use, and the dialect of an exporter. Throws CorpusError.
std::string make_model(const std::string& model);

}
