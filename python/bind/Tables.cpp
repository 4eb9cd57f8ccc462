// Declarations, options and variables for the package to show.
#include "python/bind/Tables.h"

#include <pybind11/stl.h>

namespace py = pybind11;

namespace quern::python {

const char *kindName(DeclarationKind kind) {
  constexpr const char *names[] = {"fn",      "elementwise", "reduction",
                                   "rowwise", "kernel",      "op"};
  return names[static_cast<int>(kind)];
}

static py::dict toDict(const ParameterInfo &parameter) {
  py::dict result;
  result["name"] = parameter.name;
  result["type"] = parameter.type;
  result["tensor"] = parameter.isTensor;
  result["list"] = parameter.isList;
  result["optional"] = parameter.optional;
  result["mutable"] = parameter.isMutable;
  result["compile_time"] = parameter.compileTime;
  return result;
}

py::list declarationsOf(const Module &module) {
  py::list all;
  for (const DeclarationInfo &info : module.declarations()) {
    py::list parameters;
    for (const ParameterInfo &parameter : info.parameters)
      parameters.append(toDict(parameter));
    py::dict row;
    row["name"] = info.name;
    row["kind"] = kindName(info.kind);
    row["file"] = info.file;
    row["line"] = info.line;
    row["documentation"] = info.documentation;
    row["parameters"] = std::move(parameters);
    row["results"] = info.results;
    row["result_names"] = info.resultNames;
    row["result_lists"] = info.resultIsList;
    row["backward"] = info.backward;
    row["saves"] = info.saves;
    all.append(std::move(row));
  }
  return all;
}

py::list warningsOf(const Module &module) {
  py::list all;
  for (const std::string &text : module.warnings())
    all.append(py::str(text));
  return all;
}

void bindTables(py::module_ &module) {
  module.def("declarations", &declarationsOf);
  module.def("warnings", &warningsOf);
  module.def("options", [] {
    py::list rows;
#define QN_OPTION(name, value, choices, text)                                  \
  rows.append(py::make_tuple(name, value, choices, text));
#include "jit/Options.def"
    return rows;
  });
  module.def("variables", [] {
    py::list rows;
#define QN_VARIABLE(name, choices, text)                                       \
  rows.append(py::make_tuple(name, choices, text));
#include "jit/Options.def"
    return rows;
  });
}

} // namespace quern::python
