#include "core/exec/inputs/find_feed.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/inputs/find_meanings.h"
#include "core/exec/inputs/observe_sizes.h"
#include "core/exec/inputs/size_ladder.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/ort_session.h"
#include "core/onnx/import.h"

namespace regraft::exec {
namespace {

constexpr int kMostAttempts = 200, kMostAlikeProblems = 24;
constexpr std::size_t kMostAlike = 8;   // sizes at which integers are tried alike
constexpr int kDraws = 3;               // that run at the sizes taken
constexpr double kLongestOther_s = 10;  // a run at other sizes, as far as can be told
constexpr std::int64_t kConstants[] = {1, 0, 2};

class FeedFinder {
 public:
  FeedFinder(const std::filesystem::path& model, const FeedRequest& request, OrtSession session)
      : request_(request),
        bound_(request.bound),
        session_(std::move(session)),
        model_(onnx::import_model(model, {.inlined_calls = SIZE_MAX})) {
    feed_.files = request.files;
    feed_.meanings = find_meanings(model_);
    dims_ = dynamic_dims(model, session_.inputs(), feed_.meanings);
  }

  Feed find() {
    check_names();
    source_ = feed_.source();
    take_given();
    if (find_first()) {
      prefer_usual();
      find_others();
      describe_taken();
    }
    return std::move(feed_);
  }

 private:
  void check_names() {
    if (request_.foreign)
      std::erase_if(bound_, [&](const auto& one) {
        return std::ranges::find(dims_, one.first, &DynamicDim::name) == dims_.end();
      });
    for (const auto& [name, sizes] : bound_) require_dim(name, dims_);
  }

  /// Sizes that the user's files and bindings fix.
  void take_given() {
    if (!feed_.files.empty())
      for (const auto& [dim, size] : source_->sizes(session_.inputs())) fix(dim, size, "as in --inputs");
    for (const auto& [dim, sizes] : bound_) {
      const auto held = given_.find(dim);
      if (held != given_.end() && held->second != sizes.front())
        throw UsageError("the inputs given have " + std::to_string(held->second) + " there",
                         "--bind " + dim + "=" + std::to_string(sizes.front()),
                         "leave out --bind, or give other --inputs");
      fix(dim, sizes.front(), "bound");
    }
  }

  void fix(const std::string& dim, std::int64_t size, const std::string& why) {
    given_[dim] = size;
    why_[dim] = why;
  }

  using Options = std::vector<SizeOption> DynamicDim::*;

  /// The sizes at which free dims have the options of these numbers, by kind; the given ones as given.
  SymbolSizes sizes_at(Options options, const std::vector<std::size_t>& by_kind) const {
    SymbolSizes sizes = given_;
    for (const DynamicDim& dim : dims_)
      if (!given_.contains(dim.name))
        sizes[dim.name] = at(dim.*options, by_kind[static_cast<std::size_t>(dim.kind)]);
    derive(sizes);
    return sizes;
  }

  static std::int64_t at(const std::vector<SizeOption>& options, std::size_t number) {
    return options[std::min(number, options.size() - 1)].size;
  }

  void derive(SymbolSizes& sizes) const {
    for (const DynamicDim& dim : dims_) {
      if (given_.contains(dim.name)) continue;
      if (const auto size = derived_size(dim.name, sizes)) sizes[dim.name] = *size;
    }
  }

  /// The usual sizes, else the first of cheap ones at which it runs, lifted from there. Integers whose
  /// meaning is known are other numbers only where it runs at no sizes as they are meant.
  bool find_first() {
    start_s_ = request_.clock();
    const std::vector<std::size_t> first(static_cast<std::size_t>(DimKind::fixed) + 1, 0);
    const SymbolSizes usual = sizes_at(&DynamicDim::options, first);
    if (runs_as_meant(usual) || (!knows_integers() && runs_alike(usual))) return take(usual);
    const std::string first_problem = problem_;
    auto small = find_cheap();
    if (!small) small = find_alike(usual);
    if (small) return take(lift(*small));
    refuse(first_problem);
    return false;
  }

  bool exhausted(int times = 1) const {
    return alike_problems_ >= kMostAlikeProblems || attempts_ >= times * kMostAttempts ||
           request_.clock() - start_s_ > times * request_.seconds;
  }

  /// Down the ladders of the kinds; then one dim after another, the others at their first options.
  std::optional<SymbolSizes> find_cheap() {
    std::vector<DimKind> kinds;
    for (const DynamicDim& dim : dims_)
      if (!given_.contains(dim.name) && std::ranges::find(kinds, dim.kind) == kinds.end())
        kinds.push_back(dim.kind);
    if (kinds.empty()) return std::nullopt;
    std::vector<std::size_t> by_kind(static_cast<std::size_t>(DimKind::fixed) + 1, 0);
    for (std::size_t steps = 0; steps < 48 && !exhausted(); ++steps)
      if (const auto found = try_kinds(kinds, 0, steps, by_kind)) return found;
    for (const Options others : {&DynamicDim::cheap, &DynamicDim::options})
      if (const auto found = try_alone(sizes_at(others, by_kind))) return found;
    return std::nullopt;
  }

  std::optional<SymbolSizes> find_alike(const SymbolSizes& usual) {
    if (runs_alike(usual)) return usual;
    std::vector<std::size_t> by_kind(static_cast<std::size_t>(DimKind::fixed) + 1, 0);
    for (std::size_t steps = 0; steps < kMostAlike && has_integers(); ++steps) {
      for (const DimKind kind : {DimKind::length, DimKind::image, DimKind::samples})
        by_kind[static_cast<std::size_t>(kind)] = steps;
      const SymbolSizes sizes = sizes_at(&DynamicDim::cheap, by_kind);
      if (sizes != usual && runs_alike(sizes)) return sizes;
    }
    return std::nullopt;
  }

  /// All ways to go `steps` options down the ladders of the kinds from `at` on, dims of a kind together.
  std::optional<SymbolSizes> try_kinds(const std::vector<DimKind>& kinds, std::size_t at, std::size_t steps,
                                       std::vector<std::size_t>& by_kind) {
    if (exhausted()) return std::nullopt;
    std::size_t& mine = by_kind[static_cast<std::size_t>(kinds[at])];
    const std::size_t held = mine;
    std::optional<SymbolSizes> found;
    if (at + 1 == kinds.size()) {
      mine = steps;
      const SymbolSizes sizes = sizes_at(&DynamicDim::cheap, by_kind);
      if (runs_as_meant(sizes)) found = sizes;
    } else {
      for (std::size_t taken = 0; taken <= steps && !found; ++taken) {
        mine = taken;
        found = try_kinds(kinds, at + 1, steps - taken, by_kind);
      }
    }
    mine = held;
    return found;
  }

  std::optional<SymbolSizes> try_alone(const SymbolSizes& others) {
    for (const DynamicDim& dim : dims_) {
      if (given_.contains(dim.name)) continue;
      for (const SizeOption& option : dim.cheap) {
        if (exhausted(2)) return std::nullopt;
        const SymbolSizes sizes = with(others, {&dim}, option.size);
        if (runs_as_meant(sizes)) return sizes;
      }
    }
    return std::nullopt;
  }

  SymbolSizes with(SymbolSizes sizes, const std::vector<const DynamicDim*>& dims, std::int64_t size) const {
    for (const DynamicDim* dim : dims) sizes[dim->name] = size;
    derive(sizes);
    return sizes;
  }

  /// Towards the usual sizes, from some that run. First each dim is lifted alone while the others stay small:
  /// a failure then costs little. Dims that cannot be lifted alone are lifted together, by kind. At last all
  /// that was found is tried at once, or else one after another.
  SymbolSizes lift(const SymbolSizes& small) {
    attempts_ = 0;
    std::vector<std::pair<std::vector<const DynamicDim*>, std::int64_t>> found;
    std::map<DimKind, std::vector<const DynamicDim*>> left;
    const auto lift_these = [&](const std::vector<const DynamicDim*>& dims) {
      for (const SizeOption& option : dims.front()->options) {
        if (option.size == small.at(dims.front()->name) || exhausted()) return false;
        if (!runs_as_meant(with(small, dims, option.size))) continue;
        found.emplace_back(dims, option.size);
        return true;
      }
      return false;
    };
    for (const DynamicDim& dim : dims_)
      if (!given_.contains(dim.name) && !lift_these({&dim})) left[dim.kind].push_back(&dim);
    for (const auto& [kind, dims] : left)
      if (dims.size() > 1) lift_these(dims);
    SymbolSizes all = small, best = small;
    for (const auto& [dims, size] : found) all = with(all, dims, size);
    if (found.size() <= 1 || runs_as_meant(all)) return all;
    for (const auto& [dims, size] : found) {
      const SymbolSizes next = with(best, dims, size);
      if (found.front().first == dims || runs_as_meant(next)) best = next;
    }
    return best;
  }

  bool runs_as_meant(const SymbolSizes& sizes) {
    return tried_.insert(sizes).second && runs(sizes, has_integers() ? kDraws : 1);
  }

  /// With all integers alike, where the inputs as they are meant do not run.
  bool runs_alike(const SymbolSizes& sizes) {
    if (!has_integers() || !feed_.files.empty()) return false;
    const std::string problem = problem_;
    for (const std::int64_t constant : kConstants) {
      feed_.constant = constant;
      source_ = feed_.source();
      if (runs(sizes, kDraws)) return true;
    }
    feed_.constant.reset();
    source_ = feed_.source();
    problem_ = problem;
    return false;
  }

  static bool is_integer(const ValueInfo& input) {
    return graph::is_integer(input.dtype) || input.dtype == DType::boolean;
  }

  bool has_integers() const { return std::ranges::any_of(session_.inputs(), is_integer); }

  bool knows_integers() const {
    return std::ranges::all_of(session_.inputs(), [this](const ValueInfo& input) {
      return !is_integer(input) || feed_.meanings.contains(input.name);
    });
  }

  bool runs(const SymbolSizes& sizes, int draws) {
    ++attempts_;
    Rng rng(request_.seed, "feed");
    const double start_s = request_.clock();
    try {
      for (int i = 0; i < draws; ++i) session_.run(source_->draw(session_.inputs(), sizes, rng));
    } catch (const ExecError& error) {
      alike_problems_ = error.problem() == problem_ ? alike_problems_ + 1 : 0;
      problem_ = error.problem();
      return false;
    } catch (const std::bad_alloc&) {
      problem_ = "there is too little memory for a run";
      return false;
    }
    run_s_ = (request_.clock() - start_s) / draws;
    return true;
  }

  bool take(const SymbolSizes& sizes) {
    feed_.points.push_back({sizes, {}});
    return true;
  }

  SymbolSizes inner_sizes(const SymbolSizes& sizes) const {
    Rng rng(request_.seed, "feed");
    return observe_sizes(model_, sizes, source_->draw(session_.inputs(), sizes, rng));
  }

  /// What made other sizes necessary is often one dim alone: each dim gets its most usual size if the model
  /// runs with that.
  void prefer_usual() {
    for (const DynamicDim& dim : dims_) {
      SymbolSizes sizes = feed_.points[0].sizes;
      if (given_.contains(dim.name) || sizes[dim.name] == dim.options.front().size) continue;
      sizes[dim.name] = dim.options.front().size;
      derive(sizes);
      if (sizes != feed_.points[0].sizes && tried_.insert(sizes).second && runs(sizes, kDraws))
        feed_.points[0].sizes = sizes;
    }
    feed_.points[0].inner = inner_sizes(feed_.points[0].sizes);
  }

  /// Further sizes that the user bound, which must run; else smaller and larger ones that do.
  void find_others() {
    std::size_t bound = 1;
    for (const auto& [dim, sizes] : bound_) bound = std::max(bound, sizes.size());
    for (std::size_t i = 1; i < bound; ++i) {
      SymbolSizes sizes = feed_.points[0].sizes;
      for (const auto& [dim, values] : bound_) sizes[dim] = values[std::min(i, values.size() - 1)];
      derive(sizes);
      if (!runs(sizes, 1))
        throw ExecError("the model does not run at " + FeedPoint{sizes, {}}.describe() + ": " + problem_,
                        "--bind", "bind other sizes");
      feed_.points.push_back({sizes, inner_sizes(sizes)});
    }
    if (bound > 1 || !request_.several || !feed_.files.empty()) return;
    add_scaled(1, 4);
    add_scaled(4, 1);
  }

  /// The first sizes times up / down: of what is not a batch, or of the batch where there is nothing else.
  void add_scaled(std::int64_t up, std::int64_t down) {
    const auto is_free = [&](const DynamicDim& dim) {
      return !given_.contains(dim.name) && dim.kind != DimKind::fixed && dim.kind != DimKind::channels;
    };
    const bool only_batch = std::ranges::none_of(
        dims_, [&](const DynamicDim& dim) { return is_free(dim) && dim.kind != DimKind::batch; });
    SymbolSizes sizes = feed_.points[0].sizes;
    for (const DynamicDim& dim : dims_) {
      if (!is_free(dim) || (dim.kind == DimKind::batch) != only_batch) continue;
      // An image has two of them.
      const bool side = dim.kind == DimKind::image;
      sizes[dim.name] =
          sizes[dim.name] * (side && up > 1 ? up / 2 : up) / (side && down > 1 ? down / 2 : down);
      if (sizes[dim.name] < 1) return;
    }
    derive(sizes);
    if (sizes == feed_.points[0].sizes || !tried_.insert(sizes).second) return;
    // Work may grow with the square of a length.
    const double expected_s = run_s_ * static_cast<double>(up * up);
    if (up > down && expected_s > kLongestOther_s) return;
    const double run_s = run_s_;
    if (runs(sizes, 1)) feed_.points.push_back({sizes, inner_sizes(sizes)});
    run_s_ = run_s;
  }

  void describe_taken() {
    for (const DynamicDim& dim : dims_) {
      const std::int64_t size = feed_.points[0].sizes[dim.name];
      std::string why = "follows from the others";
      const auto option = std::ranges::find(dim.options, size, &SizeOption::size);
      if (const auto given = why_.find(dim.name); given != why_.end())
        why = given->second;
      else if (!derived_size(dim.name, feed_.points[0].sizes) && option != dim.options.end())
        why = option->why + (option == dim.options.begin() ? "" : ", the first that runs");
      feed_.taken.push_back({dim.name, size, why});
    }
  }

  void refuse(const std::string& problem) {
    feed_.problem = problem;
    std::vector<std::string> free;
    for (const DynamicDim& dim : dims_)
      if (!given_.contains(dim.name)) free.push_back(dim.name);
    feed_.remedy = "give inputs at which it runs with --inputs FILE.npz";
    if (!free.empty()) feed_.remedy += ", or sizes of " + join(free, ", ") + " with --bind";
  }

  const FeedRequest& request_;
  std::map<std::string, std::vector<std::int64_t>> bound_;
  OrtSession session_;
  std::vector<DynamicDim> dims_;
  onnx::ImportedModel model_;
  Feed feed_;
  std::unique_ptr<InputSource> source_;
  SymbolSizes given_;
  std::map<std::string, std::string> why_;
  std::set<SymbolSizes> tried_;
  std::string problem_;
  int alike_problems_ = 0;  // one after another: where no size makes a difference
  int attempts_ = 0;
  double run_s_ = 0;
  double start_s_ = 0;
};

}  // namespace

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

Feed find_feed(const std::filesystem::path& model, const FeedRequest& request) {
  std::optional<OrtSession> session;
  try {
    session.emplace(model, SessionOptions{Optimisation::none, 1, {}});
    for (const ValueInfo& input : session->inputs()) {
      if (input.container == Container::map)
        throw ExecError("maps are neither drawn nor read, and its input " + input.name + " holds one", model,
                        "export the model with tensors as inputs");
      if (!is_utf8(input.describe()))
        throw ExecError("its input " + input.describe() + " has a name that is not UTF-8", model,
                        "name inputs and dims otherwise");
    }
  } catch (const ExecError& error) {
    Feed feed;
    feed.problem = error.problem();
    feed.remedy = error.remedy();
    return feed;
  }
  return FeedFinder(model, request, std::move(*session)).find();
}

}
