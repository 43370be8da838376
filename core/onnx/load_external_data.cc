#include "core/onnx/load_external_data.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "core/onnx/onnx_error.h"
#include "core/onnx/tensor_walk.h"

namespace regraft::onnx {
namespace {

namespace fs = std::filesystem;
namespace pb = ::onnx;

struct Location {
  std::string file;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

[[noreturn]] void refuse(const pb::TensorProto& tensor, const std::string& problem,
                         const std::string& remedy) {
  throw OnnxError(problem, "tensor '" + tensor.name() + "'", remedy);
}

std::uint64_t number_of(const pb::TensorProto& tensor, const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    refuse(tensor, "has external data at '" + text + "'", "offset and length are numbers");
  return value;
}

Location location_of(const pb::TensorProto& tensor) {
  Location location;
  for (const pb::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") location.file = entry.value();
    if (entry.key() == "offset") location.offset = number_of(tensor, entry.value());
    if (entry.key() == "length") location.length = number_of(tensor, entry.value());
  }
  const fs::path file(location.file);
  const bool climbs =
      std::any_of(file.begin(), file.end(), [](const fs::path& part) { return part == ".."; });
  if (location.file.empty() || file.is_absolute() || climbs || location.file.find('\0') != std::string::npos)
    refuse(tensor, "has external data in '" + location.file + "', outside of the model's folder",
           "move the data beside the model");
  return location;
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  const auto [at, rest] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return at == folder.end() && rest != file.end();
}

class DataFiles {
 public:
  DataFiles(ModelStore& store, const fs::path& folder)
      : store_(store), folder_(folder.empty() ? "." : folder) {}

  std::span<const std::byte> bytes(const pb::TensorProto& tensor, const Location& location) {
    const auto [at, fresh] = by_name_.try_emplace(location.file, store_.files.size());
    if (fresh) map(tensor, location.file);
    return store_.files[at->second].bytes();
  }

 private:
  void map(const pb::TensorProto& tensor, const std::string& name) {
    const fs::path path = folder_ / name;
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error)
      refuse(tensor, "its data file " + path.string() + " is missing",
             "put it where the model is, or export again");
    // A model that is a link (a download cache, say) has its data beside what it points at.
    const fs::path beside = fs::canonical(folder_, error);
    const fs::path model = store_.path.empty() ? beside : fs::canonical(store_.path, error).parent_path();
    if (!lies_in(real, beside) && !lies_in(real, model))
      refuse(tensor, "its data file " + path.string() + " points outside of the model's folder",
             "move the data beside the model");
    try {
      store_.files.emplace_back(path);
    } catch (const FileError& failure) {
      throw OnnxError(failure.problem(), failure.where(), failure.remedy());
    }
  }

  ModelStore& store_;
  fs::path folder_;
  std::map<std::string, std::size_t> by_name_;
};

struct Range {
  std::uint64_t begin, end;
  const pb::TensorProto* tensor;
};

/// Equal ranges are shared tensors; any other overlap is a damaged model.
void refuse_overlaps(std::map<std::string, std::vector<Range>>& ranges_by_file) {
  for (auto& [file, ranges] : ranges_by_file) {
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t reach = 0;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const Range& range = ranges[i];
      const bool shared = i > 0 && ranges[i - 1].begin == range.begin && ranges[i - 1].end == range.end;
      if (!shared && range.begin < reach && range.begin < range.end)
        refuse(*range.tensor,
               "overlaps tensor '" + ranges[i - 1].tensor->name() + "' in data file '" + file + "'",
               "the model is damaged");
      reach = std::max(reach, range.end);
    }
  }
}

}  // namespace

void load_external_data(ModelStore& store, const fs::path& folder) {
  DataFiles files(store, folder);
  std::map<std::string, std::vector<Range>> ranges;
  for_each_tensor(store.model, [&](pb::TensorProto& tensor, bool) {
    if (tensor.data_location() != pb::TensorProto::EXTERNAL) return;
    const Location location = location_of(tensor);
    const auto wanted = raw_size_bytes(tensor);
    if (!wanted && !location.length)
      refuse(tensor, "has external data of unknown length", "the model is damaged");
    const std::uint64_t length = location.length.value_or(wanted.value_or(0));
    if (wanted && *wanted != length)
      refuse(tensor,
             "has " + std::to_string(length) + " bytes of external data where its dims need " +
                 std::to_string(*wanted),
             "the model is damaged");
    std::span<const std::byte> bytes;
    if (length > 0) {
      const auto whole = files.bytes(tensor, location);
      if (location.offset > whole.size() || length > whole.size() - location.offset)
        refuse(tensor, "reaches past the end of its data file '" + location.file + "'",
               "the data file is truncated");
      bytes = whole.subspan(location.offset, length);
    }
    ranges[location.file].push_back({location.offset, location.offset + length, &tensor});
    tensor.clear_external_data();
    tensor.clear_data_location();
    store.payloads.set(tensor, bytes);
    store.had_external_data = true;
  });
  for (const auto& [file, held] : ranges) store.external_locations.push_back(file);
  refuse_overlaps(ranges);
}

}
