#include "core/corpus/corpus.h"

#include <algorithm>
#include <charconv>

#include "core/base/enum_names.h"
#include "core/base/text.h"
#include "core/corpus/families.h"
#include "core/corpus/model_bytes.h"

namespace regraft::corpus {
namespace {

constexpr std::string_view kPrefix = "corpus:";
constexpr std::uint64_t kMostModels = 100000;  // of one name

// What a draw must be to be taken: as large as what people run on one core, and soon made.
constexpr double kLeastUs = 700, kMostUs = 120000;  // by Net::estimate_us()
constexpr std::size_t kMostNodes = 1500, kMostWeightBytes = 36 << 20;
constexpr int kDraws = 1000;

struct Family {
  FamilyInfo info;
  void (*build)(Net&, Draw&);
};

constexpr Family kFamilies[] = {
    {{"convnext", Split::test, "convolutions of one channel, norms and linear layers of channels"},
     build_convnext},
    {{"decoder", Split::train, "transformers as Llama and GPT-2, with or without a cache"}, build_decoder},
    {{"dense", Split::validation, "each layer sees all before it"}, build_dense},
    {{"detector", Split::validation, "detectors of one stage, with their decoding of boxes"}, build_detector},
    {{"encoder", Split::train, "transformers as BERT"}, build_encoder},
    {{"inception", Split::train, "convolutions side by side; SqueezeNet"}, build_inception},
    {{"inverted", Split::train, "inverted bottlenecks with squeeze-excite"}, build_inverted},
    {{"mixer", Split::train, "linear layers over tokens and over channels"}, build_mixer},
    {{"recommender", Split::train, "tables, crossed features, linear layers"}, build_recommender},
    {{"recurrent", Split::train, "LSTM and GRU layers"}, build_recurrent},
    {{"residual", Split::train, "residual networks, grouped, with squeeze-excite"}, build_residual},
    {{"shuffled", Split::train, "grouped convolutions and shuffled channels"}, build_shuffled},
    {{"speech", Split::test, "a front end of convolutions, convolutions over time or a transformer"},
     build_speech},
    {{"unet", Split::train, "down and up again, with what was kept"}, build_unet},
    {{"unrolled", Split::train, "recurrent cells, written out step by step"}, build_unrolled},
    {{"vit", Split::train, "vision transformers"}, build_vit},
    {{"windowed", Split::test, "vision transformers that attend within windows"}, build_windowed},
};

struct Name {
  std::string family;  // or a split
  std::uint64_t first = 0, last = 0;
};

/// Reads "corpus:FAMILY:FIRST-LAST" or "corpus:FAMILY:SEED".
Name parse(const std::string& model) {
  const std::size_t start = kPrefix.size(), colon = model.find(':', start);
  const auto refuse = [&] {
    throw CorpusError("is no model of the corpus", model,
                      "write corpus:FAMILY:SEED, such as corpus:residual:7");
  };
  if (colon == std::string::npos) refuse();
  Name name{model.substr(start, colon - start)};
  const char *at = model.data() + colon + 1, *const end = model.data() + model.size();
  auto [stop, problem] = std::from_chars(at, end, name.first);
  name.last = name.first;
  if (problem == std::errc() && stop != end && *stop == '-') {
    const auto last = std::from_chars(stop + 1, end, name.last);
    stop = last.ptr;
    problem = last.ec;
  }
  if (problem != std::errc() || stop != end) refuse();
  if (name.last < name.first || name.last - name.first >= kMostModels)
    throw CorpusError("has no such range of seeds", model,
                      "write FIRST-LAST, at most " + std::to_string(kMostModels) + " of them");
  return name;
}

[[noreturn]] void refuse_family(const std::string& family, const std::string& model) {
  std::vector<std::string> known;
  for (const FamilyInfo& info : families()) known.emplace_back(info.name);
  const std::optional<std::string> near = nearest(family, known);
  throw CorpusError("the corpus has no family '" + family + "'", model,
                    (near ? "did you mean '" + *near + "'? " : "") + "it has " + join(known, ", "));
}

bool fits(const Net& net) {
  return net.estimate_us() >= kLeastUs && net.estimate_us() <= kMostUs &&
         net.model().nodes.size() <= kMostNodes && net.model().weight_bytes() <= kMostWeightBytes;
}

}  // namespace

std::span<const FamilyInfo> families() {
  static const std::vector<FamilyInfo> infos = [] {
    std::vector<FamilyInfo> all;
    for (const Family& family : kFamilies) all.push_back(family.info);
    return all;
  }();
  return infos;
}

bool is_corpus_name(std::string_view model) {
  return model.starts_with(kPrefix);
}

std::vector<std::string> expanded(const std::string& model) {
  if (!is_corpus_name(model)) return {model};
  const Name name = parse(model);
  std::vector<std::string> models;
  for (const FamilyInfo& info : families()) {
    if (info.name != name.family && enum_name(info.split) != name.family) continue;
    for (std::uint64_t i = 0; i <= name.last - name.first; ++i)
      models.push_back(std::string(kPrefix) + std::string(info.name) + ":" + std::to_string(name.first + i));
  }
  if (models.empty()) refuse_family(name.family, model);
  return models;
}

std::string make_model(const std::string& model) {
  const Name name = parse(model);
  if (name.last != name.first) throw CorpusError("names several models", model, "give one seed");
  const auto family =
      std::ranges::find(kFamilies, name.family, [](const Family& each) { return each.info.name; });
  if (family == std::end(kFamilies)) refuse_family(name.family, model);
  Draw draw(name.first, name.family);
  const Dialect dialect = draw_dialect(name.first, draw);
  for (int i = 0; i < kDraws; ++i) {
    Net net(dialect);
    family->build(net, draw);
    if (fits(net)) return model_bytes(net.model(), name.first);
  }
  throw CorpusError("no draw of this seed has a fitting size", model, "use another seed");
}

}
