#include "core/exec/inputs/feed.h"

#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/exec/inputs/user_inputs.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

nlohmann::json to_json(const FeedPoint& point) {
  return {{"sizes", point.sizes}, {"inner", point.inner}};
}

}  // namespace

std::string FeedPoint::describe() const {
  std::string text;
  for (const auto& [dim, size] : sizes) text += (text.empty() ? "" : ", ") + dim + "=" + std::to_string(size);
  return text.empty() ? "its fixed sizes" : text;
}

SymbolSizes FeedPoint::all() const {
  SymbolSizes both = inner;
  for (const auto& [dim, size] : sizes) both[dim] = size;
  return both;
}

std::unique_ptr<InputSource> Feed::source() const {
  auto random = std::make_unique<RandomInputs>(meanings, constant);
  if (files.empty()) return random;
  return std::make_unique<UserInputs>(UserInputs::load(files, std::move(random)));
}

std::string Feed::describe() const {
  std::string text;
  for (const TakenSize& one : taken)
    text += (text.empty() ? "" : ", ") + one.dim + "=" + std::to_string(one.size) + " (" + one.why + ")";
  return text;
}

nlohmann::json to_json(const Feed& feed) {
  nlohmann::json taken = nlohmann::json::array(), points = nlohmann::json::array(),
                 files = nlohmann::json::array();
  for (const TakenSize& one : feed.taken)
    taken.push_back({{"dim", one.dim}, {"size", one.size}, {"why", one.why}});
  for (const FeedPoint& point : feed.points) points.push_back(to_json(point));
  for (const auto& file : feed.files) files.push_back(file.string());
  return {{"taken", std::move(taken)},
          {"points", std::move(points)},
          {"meanings", to_json(feed.meanings)},
          {"constant", feed.constant ? nlohmann::json(*feed.constant) : nlohmann::json(nullptr)},
          {"files", std::move(files)},
          {"problem", feed.problem},
          {"remedy", feed.remedy}};
}

Feed feed_from_json(const nlohmann::json& json) {
  Feed feed;
  try {
    for (const auto& one : json.at("taken"))
      feed.taken.push_back({one.at("dim"), one.at("size"), one.at("why")});
    for (const auto& point : json.at("points"))
      feed.points.push_back({point.at("sizes").get<SymbolSizes>(), point.at("inner").get<SymbolSizes>()});
    feed.meanings = meanings_from_json(json.at("meanings"));
    if (!json.at("constant").is_null()) feed.constant = json.at("constant").get<std::int64_t>();
    for (const auto& file : json.at("files")) feed.files.emplace_back(file.get<std::string>());
    feed.problem = json.at("problem");
    feed.remedy = json.at("remedy");
  } catch (const nlohmann::json::exception& error) {
    throw ExecError(std::string("says nothing of how a model is fed: ") + error.what(), "feed", "");
  }
  return feed;
}

Feed load_feed(const std::filesystem::path& path) {
  return feed_from_json(nlohmann::json::parse(read_file(path), nullptr, false));
}

}
