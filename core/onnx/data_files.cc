#include "core/onnx/data_files.h"

#include <algorithm>
#include <string_view>

#include "core/base/file.h"
#include "core/onnx/onnx_error.h"
#include "core/onnx/payload.h"

namespace regraft::onnx {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDataSuffix = ".data";

/// Whether a file's name is one that exports to `model` give their data: model.onnx.<hash>.data.
bool is_data_of(const std::string& name, const std::string& model) {
  constexpr std::size_t kHashDigits = 32;
  const std::string stem = model + ".";
  return name.starts_with(stem) && name.ends_with(kDataSuffix) &&
         name.size() == stem.size() + kHashDigits + kDataSuffix.size() &&
         name.find_first_not_of("0123456789abcdef", stem.size()) == stem.size() + kHashDigits;
}

fs::path folder_of(const fs::path& path) {
  return fs::absolute(path).parent_path();
}

/// Looks at messages alone: the contents of tensors are not read.
bool may_name(const fs::path& model, const std::string& name) {
  constexpr std::byte kIrVersionTag{0x08};  // what models begin with
  std::error_code problem;
  if (fs::file_size(model, problem) == 0 || problem) return false;
  try {
    const MappedFile file(model);
    if (file.bytes()[0] != kIrVersionTag) return false;
    PayloadTable contents;
    return slim_model(file.bytes(), contents).find(name) != std::string::npos;
  } catch (const OnnxError&) {
    return false;
  } catch (const FileError&) {
    return true;
  }
}

}  // namespace

bool is_named_beside(const fs::path& data, const fs::path& owner) {
  const std::string name = data.filename().string();
  const fs::path folder = folder_of(data);
  std::error_code ignored;
  for (const fs::path& place : {folder, folder.parent_path()})
    for (const fs::directory_entry& entry : fs::directory_iterator(place, ignored)) {
      if (!entry.is_regular_file(ignored) || fs::equivalent(entry.path(), data, ignored) ||
          fs::equivalent(entry.path(), owner, ignored))
        continue;
      if (may_name(entry.path(), name)) return true;
    }
  return false;
}

void remove_stale_data(const fs::path& path, std::span<const std::string> kept) {
  const std::string model = path.filename().string();
  std::error_code ignored;  // what cannot be removed costs space, nothing else
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_of(path), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!is_data_of(name, model) || std::ranges::find(kept, name) != kept.end()) continue;
    if (!is_named_beside(entry.path(), path)) fs::remove(entry.path(), ignored);
  }
}

}
