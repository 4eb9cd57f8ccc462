// Python objects to graph facts, arguments and values, and back.
#pragma once

#include "backend-torch/bind/TorchPython.h"
#include "backend-torch/graph/Graph.h"
#include "backend-torch/run/Raise.h"

namespace quern {

/// The importer's tuples: ("tensor", dtype, sizes, strides, offset, device,
/// storage, is_strided), ("number", kind, size), or None.
Facts factsFromPython(pybind11::handle facts);

/// Plain Python values stand for themselves, ("value", id) and ("size", id) for
/// values and size expressions.
GraphArgument argumentFromPython(pybind11::handle argument);

pybind11::object toPython(const c10::IValue &value);
c10::IValue fromPython(pybind11::handle object);

} // namespace quern
