// The extension module _regraft_gym: RewriteWorld for regraft_gym.py. Arrays go over by Python's buffer
// protocol, so that the module fits any version of NumPy.
#include <pybind11/pybind11.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "actors/python/packed_observation.h"
#include "actors/python/python_options.h"
#include "actors/python/rewrite_world.h"
#include "core/base/error.h"
#include "core/env/rule_features.h"
#include "core/graph/op.h"

namespace regraft::actors {
namespace {

namespace py = pybind11;
using namespace py::literals;

py::dict to_dict(const cost::Cost& cost) {
  return py::dict("latency_us"_a = cost.latency_us, "flops"_a = cost.flops, "bytes"_a = cost.bytes,
                  "peak_memory_bytes"_a = cost.peak_memory_bytes, "launches"_a = cost.launches);
}

py::dict to_dict(const env::StepSeconds& seconds) {
  return py::dict("apply"_a = seconds.apply, "cost"_a = seconds.cost, "match"_a = seconds.match,
                  "observe"_a = seconds.observe);
}

/// (name, type, shape, offset) of each array.
py::tuple fields_of(const PackedObservation& packed) {
  py::tuple all(packed.fields().size());
  std::size_t at = 0;
  for (const PackedField& field : packed.fields()) {
    const py::tuple shape =
        field.columns == 0 ? py::make_tuple(field.rows) : py::make_tuple(field.rows, field.columns);
    all[at++] = py::make_tuple(field.name, field.type, shape, field.offset);
  }
  return all;
}

/// observation, info
py::tuple reset(RewriteWorld& world, std::uint32_t model, std::uint64_t seed) {
  RewriteWorld::Start start = [&] {
    const py::gil_scoped_release free;
    return world.reset(model, seed);
  }();
  py::dict info("model"_a = world.options().models.at(model), "cost"_a = to_dict(start.cost),
                "truncated_locations"_a = start.truncated_locations);
  return py::make_tuple(std::move(start.observation), std::move(info));
}

/// observation, reward, terminated, truncated, info, seconds
py::tuple step(RewriteWorld& world, std::uint32_t rule, std::uint32_t location) {
  RewriteWorld::Step step = [&] {
    const py::gil_scoped_release free;
    return world.step({rule, location});
  }();
  const env::StepInfo& info = step.result.info;
  const bool valid = info.invalid == env::Invalid::none;
  py::dict told("rule"_a = info.rule, "invalid"_a = valid ? std::string_view() : env::describe(info.invalid),
                "cost_before"_a = to_dict(info.before), "cost_after"_a = to_dict(info.after),
                "cost_best"_a = to_dict(step.best), "truncated_locations"_a = info.truncated_locations);
  return py::make_tuple(std::move(step.observation), step.result.reward, step.result.terminated,
                        step.result.truncated, std::move(told), to_dict(info.seconds));
}

py::tuple rule_names(const RewriteWorld& world) {
  py::tuple names(world.rules().size());
  for (std::size_t rule = 0; rule < world.rules().size(); ++rule) names[rule] = world.rules().info(rule).name;
  return names;
}

py::bytes rule_features(const RewriteWorld& world) {
  const env::RuleFeatureTable table = env::make_rule_features(world.rules());
  return {reinterpret_cast<const char*>(table.features.data()), table.features.size() * sizeof(float)};
}

py::object new_exception(py::module_& module, const char* name, const py::object& bases) {
  const std::string full = std::string("regraft_gym.") + name;
  auto made = py::reinterpret_steal<py::object>(PyErr_NewException(full.c_str(), bases.ptr(), nullptr));
  if (!made) throw py::error_already_set();
  module.attr(name) = made;
  return made;
}

/// Every regraft::Error is a RegraftError; an option that cannot be meant is an OptionError, which is a
/// ValueError too. The types live as long as the interpreter.
void add_exceptions(py::module_& module) {
  const auto python = [](PyObject* type) { return py::reinterpret_borrow<py::object>(type); };
  static const py::handle error = new_exception(module, "RegraftError", python(PyExc_RuntimeError)).release();
  static const py::handle option_error =
      new_exception(module, "OptionError", py::make_tuple(error, python(PyExc_ValueError))).release();
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(std::move(thrown));
    } catch (const UsageError& wrong) {
      PyErr_SetString(option_error.ptr(), wrong.what());
    } catch (const Error& wrong) {
      PyErr_SetString(error.ptr(), wrong.what());
    }
  });
}

}  // namespace

PYBIND11_MODULE(_regraft_gym, module) {
  add_exceptions(module);
  module.attr("NODE_FEATURES") = env::kNodeFeatures;
  module.attr("EDGE_FEATURES") = env::kEdgeFeatures;
  module.attr("GLOBAL_FEATURES") = env::kGlobalFeatures;
  module.attr("RULE_FEATURES") = env::kRuleFeatures;
  module.attr("OP_KINDS") = graph::kOpKinds;

  py::class_<PackedObservation>(module, "PackedObservation", py::buffer_protocol())
      .def_buffer([](PackedObservation& packed) {
        const auto bytes = packed.bytes();
        return py::buffer_info(reinterpret_cast<std::uint8_t*>(bytes.data()),
                               static_cast<py::ssize_t>(bytes.size()));
      })
      .def("fields", &fields_of);

  py::class_<RewriteWorld>(module, "RewriteWorld")
      .def(py::init([](const py::dict& values) {
        task::WorkloadOptions options = python_options(values);
        const py::gil_scoped_release free;
        return std::make_unique<RewriteWorld>(std::move(options));
      }))
      .def("reset", &reset)
      .def("step", &step)
      .def(
          "write_best", [](RewriteWorld& world, const std::string& path) { world.write_best(path); },
          py::call_guard<py::gil_scoped_release>())
      .def_property_readonly(
          "location_limit",
          [](const RewriteWorld& world) { return world.options().environment.location_limit; })
      .def_property_readonly("rule_names", &rule_names)
      .def("rule_features", &rule_features);
}

}
