#include "core/cost/kernel_database.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "core/base/counted.h"
#include "core/base/enum_names.h"
#include "core/base/file.h"
#include "core/base/hash.h"

namespace regraft::cost {
namespace {

constexpr int kVersion = 2;
constexpr int kCostVersion = 5;  // of the formulas for kernel times, with which measured ones are compared
constexpr int kApplication = 0x72676b31;  // "rgk1"
constexpr std::string_view kExtension = ".sqlite";
constexpr int kBusyMs = 2000;
constexpr int kMostRuns = 20;  // that a mean holds, so that it follows a machine that changes
// Codes of sqlite3.h (www.sqlite.org/rescode.html), which SQLiteCpp does not name.
constexpr int kCorrupt = 11, kNoDatabase = 26, kForeign = 1;

constexpr const char* kSchema =
    "CREATE TABLE IF NOT EXISTS kernels (fingerprint TEXT NOT NULL, op TEXT NOT NULL, form TEXT NOT NULL, "
    "dtype INTEGER NOT NULL, sizes TEXT NOT NULL, source TEXT NOT NULL, analytic_us REAL NOT NULL, "
    "measured_us REAL NOT NULL, runs INTEGER NOT NULL, day TEXT NOT NULL, "
    "PRIMARY KEY (fingerprint, op, form, dtype, sizes, source)) WITHOUT ROWID";

using Sizes = decltype(KernelFeatures::sizes);

std::string text_of(const Sizes& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += std::to_string(size) + " ";
  return text;
}

std::optional<Sizes> sizes_from(const std::string& text) {
  std::istringstream words(text);
  Sizes sizes;
  for (std::int64_t& size : sizes)
    if (!(words >> size)) return std::nullopt;
  return sizes;
}

/// "AMD EPYC, family 25, model 1, stepping 1, 512 KB": what /proc/cpuinfo says of the first core.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::map<std::string, std::string> facts;
  for (std::string line; std::getline(file, line) && !line.empty();)
    if (const std::size_t at = line.find(':'); at != std::string::npos && at + 2 < line.size())
      facts.emplace(line.substr(0, line.find_last_not_of("\t ", at - 1) + 1), line.substr(at + 2));
  return facts["model name"] + ", family " + facts["cpu family"] + ", model " + facts["model"] +
         ", stepping " + facts["stepping"] + ", " + facts["cache size"];
}

}  // namespace

DeviceProfile device_of_this_machine(const std::filesystem::path& device_profile,
                                     const std::string& runtime_version) {
  DeviceProfile device = load_device(device_profile, runtime_version);
  if (!__builtin_cpu_supports("avx512f")) device.channel_block = std::min(device.channel_block, 8.0);
  return device;
}

std::string device_fingerprint(const std::filesystem::path& device_profile, const std::string& runtime,
                               int threads) {
  return processor() + "; " + runtime + "; " + counted(threads, "thread") + "; costs " +
         std::to_string(kCostVersion) + "; rates " + hash_text(read_file(device_profile)).hex();
}

std::filesystem::path default_kernel_database() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path folder =
      cache && *cache ? cache : std::filesystem::path(home ? home : "/") / ".cache";
  return folder / "regraft" / "kernels.sqlite";
}

template <typename Work>
void KernelDatabase::guarded(const char* doing, Work work) {
  if (!database_) return;
  try {
    work();
  } catch (const SQLite::Exception& error) {
    problem_ = "measured kernels are not " + std::string(doing) + " (" + error.what() +
               "): " + file_.string() + "; going on without them";
    database_.reset();
  }
}

void KernelDatabase::open() {
  database_ = std::make_unique<SQLite::Database>(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                                                 kBusyMs);
  const auto ask = [&](const char* pragma) { return database_->execAndGet(pragma).getInt(); };
  if (ask("PRAGMA application_id") == kApplication && ask("PRAGMA user_version") == kVersion) return;
  database_->exec("PRAGMA journal_mode = WAL");
  SQLite::Transaction transaction(*database_,
                                  SQLite::TransactionBehavior::IMMEDIATE);  // one process makes it
  if (ask("SELECT count(*) FROM sqlite_master") > 0) {
    if (ask("PRAGMA application_id") != kApplication)
      throw SQLite::Exception("it is another program's", kForeign);
    if (ask("PRAGMA user_version") != kVersion)
      throw SQLite::Exception("it is of another version", kNoDatabase);
    return;
  }
  database_->exec(kSchema);
  database_->exec("PRAGMA application_id = " + std::to_string(kApplication));
  database_->exec("PRAGMA user_version = " + std::to_string(kVersion));
  transaction.commit();
}

void KernelDatabase::set_aside() {
  std::string aside = file_.string() + ".old";
  for (int i = 2; std::filesystem::exists(aside); ++i) aside = file_.string() + ".old" + std::to_string(i);
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"})
    std::filesystem::rename(file_.string() + suffix, aside + suffix, ignored);
  problem_ += "; set aside as " + std::filesystem::path(aside).filename().string();
}

KernelDatabase::KernelDatabase(const std::filesystem::path& file) : file_(file) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  for (bool again = false;; again = true) {
    try {
      open();
      return;
    } catch (const SQLite::Exception& error) {
      database_.reset();
      problem_ += (again ? "; " : file.string() + ": ") + std::string(error.what());
      const bool damaged = error.getErrorCode() == kCorrupt || error.getErrorCode() == kNoDatabase;
      if (again || !damaged || file.extension() != kExtension) {  // what has another name may be anything
        problem_ += "; going on without measured kernels";
        return;
      }
      set_aside();
    }
  }
}

KernelDatabase::~KernelDatabase() = default;

std::vector<KernelSample> KernelDatabase::read(const std::string& fingerprint) {
  std::vector<KernelSample> samples;
  guarded("read", [&] {
    SQLite::Statement query(*database_,
                            "SELECT op, form, dtype, sizes, analytic_us, measured_us, source FROM kernels "
                            "WHERE fingerprint = ? ORDER BY op, form, dtype, sizes, source");
    query.bind(1, fingerprint);
    while (query.executeStep()) {
      auto features = KernelFeatures::of_op(query.getColumn(0).getString());
      const auto form = enum_value<KernelForm>(query.getColumn(1).getString());
      const auto sizes = sizes_from(query.getColumn(3).getString());
      const auto source = enum_value<KernelSource>(query.getColumn(6).getString());
      if (!features || !form || !sizes || !source) continue;
      features->form = *form;
      features->dtype = static_cast<graph::DType>(query.getColumn(2).getInt());
      features->sizes = *sizes;
      KernelSample& sample = samples.emplace_back();
      sample.features = std::move(*features);
      sample.analytic_us = query.getColumn(4).getDouble();
      sample.measured_us = query.getColumn(5).getDouble();
      sample.source = *source;
    }
  });
  return samples;
}

void KernelDatabase::write(const std::string& fingerprint, std::span<const KernelSample> samples) {
  guarded("kept", [&] {
    SQLite::Transaction transaction(*database_);
    SQLite::Statement insert(*database_,
                             "INSERT INTO kernels VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, date('now')) "
                             "ON CONFLICT DO UPDATE SET runs = min(runs + 1, " +
                                 std::to_string(kMostRuns) +
                                 "), analytic_us = excluded.analytic_us, measured_us = measured_us + "
                                 "(excluded.measured_us - measured_us) / min(runs + 1, " +
                                 std::to_string(kMostRuns) + "), day = excluded.day");
    for (const KernelSample& sample : samples) {
      if (sample.source == KernelSource::unsized ||
          (sample.features.kind == graph::OpKind::opaque && sample.features.op.empty()))
        continue;  // another kernel may have the same features
      insert.reset();
      insert.bind(1, fingerprint);
      insert.bind(2, sample.features.op_name());
      insert.bind(3, std::string(enum_name(sample.features.form)));
      insert.bind(4, static_cast<int>(sample.features.dtype));
      insert.bind(5, text_of(sample.features.sizes));
      const bool of_model = sample.source == KernelSource::this_model;  // another one to whoever reads it
      insert.bind(6, std::string(enum_name(of_model ? KernelSource::other_model : sample.source)));
      insert.bind(7, sample.analytic_us);
      insert.bind(8, sample.measured_us);
      insert.exec();
    }
    transaction.commit();
  });
}

}
