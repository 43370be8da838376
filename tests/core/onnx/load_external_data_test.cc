#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/onnx/data_files.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/onnx/model_builder.h"

namespace regraft::onnx {
namespace {

namespace fs = std::filesystem;
namespace pb = ::onnx;
using test::ModelBuilder;
using testing::HasSubstr;

constexpr std::int64_t kWeightRows = 30, kWeightColumns = 20;
constexpr std::size_t kBytes = kWeightRows * kWeightColumns * sizeof(float);

std::string data_bytes(std::size_t tensors) {
  std::vector<float> values(tensors * kWeightRows * kWeightColumns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.5f;
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

struct Range {
  std::string file = "weights.bin";
  std::uint64_t offset = 0;
  std::uint64_t length = kBytes;
};

void fill_external(pb::TensorProto& tensor, const std::vector<std::int64_t>& dims, const Range& range) {
  tensor.set_data_type(pb::TensorProto::FLOAT);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  tensor.set_data_location(pb::TensorProto::EXTERNAL);
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"location", range.file},
                                                        {"offset", std::to_string(range.offset)},
                                                        {"length", std::to_string(range.length)}}) {
    auto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
}

/// x times each external tensor, summed.
pb::ModelProto external_model(const std::vector<Range>& ranges) {
  ModelBuilder builder;
  builder.input("x", {"1", std::to_string(kWeightRows)});
  std::vector<std::string> products;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::string number = std::to_string(i);
    pb::TensorProto& tensor = *builder.model.mutable_graph()->add_initializer();
    tensor.set_name("w" + number);
    fill_external(tensor, {kWeightRows, kWeightColumns}, ranges[i]);
    builder.node("MatMul", {"x", "w" + number}, {"p" + number});
    products.push_back("p" + number);
  }
  builder.output("y", {"1", std::to_string(kWeightColumns)});
  builder.node("Sum", products, {"y"});
  return builder.model;
}

class External : public testing::Test {
 protected:
  void write(const std::vector<Range>& ranges, std::size_t tensors) {
    write_file_atomic(path_, external_model(ranges).SerializeAsString());
    if (tensors > 0) write_file_atomic(folder_.path() / "weights.bin", data_bytes(tensors));
  }

  std::string error() {
    try {
      import_model(path_);
    } catch (const OnnxError& failure) {
      return failure.what();
    }
    return "no error";
  }

  /// The data files that lie beside a model and are named after it.
  static std::vector<fs::path> data_files(const fs::path& model) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(model.parent_path())) {
      const std::string name = entry.path().filename().string();
      if (name != model.filename() && name.starts_with(model.filename().string()))
        files.push_back(entry.path());
    }
    return files;
  }

  /// Contents of all constants of a model, by name.
  static std::map<std::string, std::string> contents(const fs::path& path) {
    const ImportedModel model = import_model(path);
    std::map<std::string, std::string> result;
    const graph::Graph& graph = model.graph();
    for (graph::NodeId id = 0; id < graph.id_bound(); ++id)
      if (graph.alive(id) && graph.node(id).kind == graph::OpKind::weight) {
        const auto bytes = model.tables().weights()[graph.node(id).weight].bytes;
        result[model.value_name({id, 0})] = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
      }
    return result;
  }

  TempDir folder_;
  fs::path path_ = folder_.path() / "model.onnx";
};

TEST_F(External, ComesInAndGoesOut) {
  write({{}, {"weights.bin", kBytes}}, 2);
  const std::string data = data_bytes(2);
  const auto before = contents(path_);
  ASSERT_EQ(before.size(), 2u);
  EXPECT_EQ(before.at("w0"), data.substr(0, kBytes));
  EXPECT_EQ(before.at("w1"), data.substr(kBytes));

  const ImportedModel model = import_model(path_);
  const fs::path out = folder_.path() / "elsewhere" / "out.onnx";
  fs::create_directories(out.parent_path());
  export_model(model, model.graph(), out);
  ASSERT_EQ(data_files(out).size(), 1u) << "external in, external out";
  EXPECT_LT(fs::file_size(out), 2000u);
  EXPECT_EQ(contents(out), before);
  const std::string first = read_file(out), first_data = read_file(data_files(out)[0]);
  export_model(model, model.graph(), out);
  EXPECT_EQ(read_file(out), first);
  EXPECT_EQ(read_file(data_files(out).at(0)), first_data);

  const fs::path inside = folder_.path() / "inside.onnx";
  export_model(model, model.graph(), inside, {.external_data = ExternalData::never});
  EXPECT_TRUE(data_files(inside).empty());
  EXPECT_EQ(contents(inside), before);
}

/// The values and indices of sparse attributes lie in data files as other tensors do.
TEST_F(External, SparseAttributesComeInAndGoOut) {
  const std::string data = data_bytes(1);
  write_file_atomic(folder_.path() / "weights.bin", data);
  ModelBuilder builder;
  builder.input("x", {"1"}).output("y", {"1"});
  pb::NodeProto& node = builder.node("Sparse", {"x"}, {"y"});
  node.set_domain("custom");
  auto& domain = *builder.model.add_opset_import();
  domain.set_domain("custom");
  domain.set_version(1);
  pb::AttributeProto& attribute = test::add_attribute(node, "tables", pb::AttributeProto::SPARSE_TENSORS);
  for (const std::uint64_t offset : {0u, 40u}) {
    pb::SparseTensorProto& sparse = *attribute.add_sparse_tensors();
    fill_external(*sparse.mutable_values(), {10}, {"weights.bin", offset, 40});
    ModelBuilder::fill_tensor(*sparse.mutable_indices(), "", {10}, std::vector<std::int64_t>(10, offset),
                              pb::TensorProto::INT64);
    sparse.add_dims(1000);
  }
  write_file_atomic(path_, builder.model.SerializeAsString());

  const ImportedModel model = import_model(path_);
  const fs::path out = folder_.path() / "out.onnx";
  export_model(model, model.graph(), out, {.external_data = ExternalData::never});
  pb::ModelProto written;
  ASSERT_TRUE(written.ParseFromString(read_file(out)));
  const pb::AttributeProto& tables = written.graph().node(0).attribute(0);
  ASSERT_EQ(tables.sparse_tensors_size(), 2);
  for (int i = 0; i < 2; ++i) {
    const pb::TensorProto& values = tables.sparse_tensors(i).values();
    EXPECT_EQ(values.data_location(), pb::TensorProto::DEFAULT);
    EXPECT_EQ(values.raw_data(), data.substr(static_cast<std::size_t>(i) * 40, 40));
  }
}

TEST_F(External, CanBeOverwrittenInPlace) {
  write({{}, {"weights.bin", kBytes}}, 2);
  const auto before = contents(path_);
  const ImportedModel model = import_model(path_);
  export_model(model, model.graph(), path_);
  const ImportedModel again = import_model(path_);
  export_model(again, again.graph(), path_);  // now over its own data file
  EXPECT_EQ(contents(path_), before);
}

// A crash between the two renames: the new data file is there, the model is the old one.
TEST_F(External, AnOldModelNeverMeetsNewData) {
  write({{}, {"weights.bin", kBytes}}, 2);
  const fs::path out = folder_.path() / "out.onnx";
  const ImportedModel model = import_model(path_);
  export_model(model, model.graph(), out);
  const auto before = contents(out);
  const std::string old_model = read_file(out);
  const fs::path old_data = data_files(out).at(0), kept = folder_.path() / "kept";
  fs::copy_file(old_data, kept);

  write_file_atomic(folder_.path() / "weights.bin", data_bytes(3).substr(kBytes));
  const ImportedModel other = import_model(path_);
  export_model(other, other.graph(), out);
  ASSERT_EQ(data_files(out).size(), 1u) << "what the earlier export left is gone";
  EXPECT_NE(data_files(out).at(0), old_data);
  fs::rename(kept, old_data);
  write_file_atomic(out, old_model);
  EXPECT_EQ(contents(out), before);
  remove_stale_data(out, {});
  EXPECT_TRUE(data_files(out).empty());
}

// Models that were copied, renamed, or stand one folder higher share data files with the one that is written
// anew.
TEST_F(External, DataThatAnotherModelNamesStays) {
  write({{}}, 1);
  const fs::path folder = folder_.path() / "inner";
  fs::create_directory(folder);
  const fs::path out = folder / "out.onnx";
  for (const fs::path& other : {folder / "copy.onnx", folder_.path() / "above.onnx"}) {
    write_file_atomic(folder_.path() / "weights.bin", data_bytes(1));
    const ImportedModel model = import_model(path_);
    export_model(model, model.graph(), out);
    const fs::path shared = data_files(out).at(0);
    fs::copy_file(out, other);
    write_file_atomic(folder_.path() / "weights.bin", data_bytes(2).substr(kBytes));
    const ImportedModel changed = import_model(path_);
    export_model(changed, changed.graph(), out);
    EXPECT_TRUE(fs::exists(shared)) << other;
    EXPECT_EQ(data_files(out).size(), 2u);
    fs::remove(other);
    remove_stale_data(
        out, std::vector{data_files(out).at(0) == shared ? data_files(out).at(1).filename().string()
                                                         : data_files(out).at(0).filename().string()});
    EXPECT_FALSE(fs::exists(shared)) << "nobody names it any more";
  }
}

TEST_F(External, EqualRangesAreSharedTensors) {
  write({{}, {}}, 1);
  EXPECT_EQ(error(), "no error");
}

TEST_F(External, RefusesOverlappingRanges) {
  write({{}, {"weights.bin", kBytes / 2}}, 2);
  EXPECT_THAT(error(), HasSubstr("overlaps tensor 'w0'"));
}

TEST_F(External, RefusesRangesPastTheEnd) {
  write({{"weights.bin", kBytes}}, 1);
  EXPECT_THAT(error(), HasSubstr("reaches past the end"));
  write({{"weights.bin", ~std::uint64_t{0} - 10}}, 1);
  EXPECT_THAT(error(), HasSubstr("reaches past the end"));
}

TEST_F(External, RefusesLengthsThatDoNotFitTheDims) {
  write({{"weights.bin", 0, kBytes - 4}}, 1);
  EXPECT_THAT(error(), HasSubstr("where its dims need"));
}

TEST_F(External, RefusesToLeaveTheFolder) {
  write_file_atomic(folder_.path().parent_path() / "regraft_outside.bin", data_bytes(1));
  for (const char* file : {"../regraft_outside.bin", "/etc/passwd", "a/../../regraft_outside.bin", ""}) {
    write({{file}}, 0);
    EXPECT_THAT(error(), HasSubstr("outside of the model's folder")) << file;
  }
  fs::create_symlink(folder_.path().parent_path() / "regraft_outside.bin", folder_.path() / "link.bin");
  write({{"link.bin"}}, 0);
  EXPECT_THAT(error(), HasSubstr("outside of the model's folder"));
  fs::remove(folder_.path().parent_path() / "regraft_outside.bin");
}

TEST_F(External, FindsDataBesideALinkedModel) {
  const TempDir cache;
  write({{}}, 1);
  fs::rename(path_, cache.path() / "blob1");
  fs::rename(folder_.path() / "weights.bin", cache.path() / "blob2");
  fs::create_symlink(cache.path() / "blob1", path_);
  fs::create_symlink(cache.path() / "blob2", folder_.path() / "weights.bin");
  EXPECT_EQ(error(), "no error");
}

TEST_F(External, SaysWhichFileIsMissing) {
  write({{}}, 0);
  EXPECT_THAT(error(), HasSubstr("weights.bin is missing"));
}

}  // namespace
}
