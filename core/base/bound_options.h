#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/config.h"

namespace regraft {

/// The options of a struct, each bound to the field that it fills: a row is name, field, what it may be, and
/// help; its default is the field's own. So an option stands in two lines, the field and its row.
///   const BoundOptions<PpoOptions> kOptions({{"ppo.clip", &PpoOptions::clip, between(0, 1), "..."}});
template <typename Struct>
class BoundOptions {
 public:
  class Row {
   public:
    /// `field`: a pointer to a member, or a function from Struct& to a part of it.
    template <std::invocable<Struct&> Field>
    Row(std::string name, Field field, Allowed allowed, std::string help)
        : option_(std::move(name), initial(field), std::move(allowed), std::move(help)),
          fill_([field](Struct& to, const ConfigValue& value) { assign(std::invoke(field, to), value); }),
          read_([field](Struct& from) { return to_config_value(std::invoke(field, from)); }) {}

   private:
    friend class BoundOptions;
    template <typename Field>
    static auto initial(Field field) {
      Struct defaults{};
      return std::invoke(field, defaults);
    }

    Option option_;
    std::function<void(Struct&, const ConfigValue&)> fill_;
    std::function<ConfigValue(Struct&)> read_;
  };

  explicit BoundOptions(std::vector<Row> rows) : rows_(std::move(rows)) {}

  /// A resumed run must have the same value of all of them.
  static BoundOptions fixed_on_resume(std::vector<Row> rows) {
    for (Row& row : rows) row.option_.fix_on_resume();
    return BoundOptions(std::move(rows));
  }

  std::vector<Option> options() const {
    std::vector<Option> all;
    for (const Row& row : rows_) all.push_back(row.option_);
    return all;
  }
  /// A struct with all its options as the config has them, whose table they are in.
  Struct from(const Config& config) const {
    Struct filled{};
    for (const Row& row : rows_) row.fill_(filled, config.value(row.option_.name()));
    return filled;
  }
  /// Throws ConfigError naming the first option that may not be as it is.
  void check(Struct filled) const {
    for (const Row& row : rows_) row.option_.checked(row.read_(filled), "options");
  }

 private:
  std::vector<Row> rows_;
};

}
