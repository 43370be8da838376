#include "actors/python/python_options.h"

#include <optional>
#include <string>
#include <utility>

#include "core/base/config.h"

namespace regraft::actors {
namespace {

namespace py = pybind11;

constexpr char kWhere[] = "RewriteEnv";

/// A str or a path, where UTF-8 can say it.
std::optional<std::string> text_of(const py::handle& value) {
  if (!py::isinstance<py::str>(value) && !py::hasattr(value, "__fspath__")) return std::nullopt;
  const auto path = py::reinterpret_steal<py::object>(PyOS_FSPath(value.ptr()));
  if (!path) throw py::error_already_set();
  Py_ssize_t size = 0;
  const char* const text =
      py::isinstance<py::str>(path) ? PyUnicode_AsUTF8AndSize(path.ptr(), &size) : nullptr;
  if (text) return std::string(text, static_cast<std::size_t>(size));
  PyErr_Clear();
  return std::nullopt;
}

std::optional<ConfigValue> number_of(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (PyIndex_Check(value.ptr()) != 0) {
    int overflow = 0;
    const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!whole) throw py::error_already_set();
    const long long integer = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
    return overflow != 0 ? std::nullopt : std::optional<ConfigValue>(std::int64_t{integer});
  }
  if (PyNumber_Check(value.ptr()) == 0) return std::nullopt;
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred()) throw py::error_already_set();
  return number;
}

/// As one of the config's types, or nothing.
std::optional<ConfigValue> value_of(const py::handle& value) {
  if (auto text = text_of(value)) return *std::move(text);
  if (!py::isinstance<py::list>(value) && !py::isinstance<py::tuple>(value)) return number_of(value);
  TextList list;
  for (const py::handle& item : value) {
    auto text = text_of(item);
    if (!text) return std::nullopt;
    list.push_back(*std::move(text));
  }
  return list;
}

}  // namespace

task::WorkloadOptions python_options(const py::dict& values) {
  const OptionTable table(task::workload_options());
  Config config(table);
  std::string toml;
  for (const auto& [key, given] : values) {
    const Option& option = table.at("workload." + key.cast<std::string>(), kWhere);
    const auto value = value_of(given);
    if (!value)
      throw ConfigError("'" + option.name() + "' cannot be " + py::repr(given).cast<std::string>(), kWhere,
                        "it is " + option.allowed());
    toml += option.name() + " = " + to_toml(option.checked(*value, kWhere)) + "\n";
  }
  config.merge_toml(toml, kWhere);
  return task::workload_options_from(config);
}

}
