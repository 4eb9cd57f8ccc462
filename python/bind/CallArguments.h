// The arguments of one Python call, sorted to the declaration's parameters.
#pragma once

#include "jit/Jit.h"
#include "python/bind/Tensor.h"

#include <array>
#include <memory>
#include <memory_resource>
#include <optional>
#include <pybind11/pybind11.h>
#include <string>
#include <utility>
#include <vector>

namespace quern::python {

/// What identifies a call's binding: types, shapes, strides and scalars as
/// words. Two calls with equal signatures share a BoundKernel.
class Signature {
public:
  void add(std::int64_t word) {
    if (count < words.size()) {
      words[count++] = word;
      return;
    }
    if (all.empty())
      all.assign(words.begin(), words.end());
    all.push_back(word);
  }
  void add(const TensorView &view);
  std::span<const std::int64_t> view() const {
    if (!all.empty())
      return all;
    return {words.data(), count};
  }

private:
  std::array<std::int64_t, 128> words;
  std::size_t count = 0;
  std::vector<std::int64_t> all; ///< of a long list
};

/// One call: fills in order `place`, `read`; afterwards the arguments are ready
/// for the binder. Each step returns false with a Python exception set.
class CallArguments {
public:
  CallArguments(const DeclarationInfo &info, FrameworkCache &cache);

  bool place(PyObject *const *args, Py_ssize_t count, PyObject *names);
  bool read();

  const Signature &signature() const { return key; }
  std::vector<Argument> arguments() const;
  std::vector<TensorView> outs() const;
  std::vector<std::pair<std::string, Argument>> constants() const;
  /// The data of every present tensor parameter, then of the given outputs.
  std::span<void *const> data() const { return pointers; }
  /// Of an output that was allocated for the call.
  void add(void *data) { pointers.push_back(data); }
  /// The framework of the first tensor argument.
  const Framework &framework() const { return maker; }
  PyObject *out() const { return outObject; }

private:
  bool placeNamed(PyObject *name, PyObject *value);
  bool readParameter(std::size_t index);
  bool readOuts();
  /// Replaces what stands at `place` by what was made for it, if there is one.
  bool take(pybind11::object number, PyObject *&place);
  bool scalarSignature(PyObject *&object, const std::string &name);
  bool numbersSignature(PyObject *&list, const std::string &name);
  bool readList(std::size_t index);
  void refuseAbsent(const std::string &name);
  Borrowed *readTensor(PyObject *object, const std::string &name);
  Borrowed *nextOperand();

  static constexpr std::size_t kInline = 8;
  const DeclarationInfo &info;
  FrameworkCache &cache;
  Signature key;
  /// What follows lies here unless there is very much of it.
  std::array<std::byte, 1024> room;
  std::pmr::monotonic_buffer_resource memory{room.data(), room.size()};
  std::pmr::vector<PyObject *> slots;
  std::pmr::vector<std::pair<PyObject *, PyObject *>> named;
  /// Numbers made for those above, and what stands in lists: whoever else has
  /// a list may empty it while the call runs.
  std::pmr::vector<pybind11::object> held;
  std::pmr::vector<void *> pointers;
  PyObject *outObject = nullptr;
  Framework maker;
  /// None is made before it is read into.
  std::array<std::optional<Borrowed>, kInline> inlineOperands;
  std::vector<std::unique_ptr<Borrowed>> moreOperands;
  /// By parameter, null for scalars.
  std::pmr::vector<const Borrowed *> operandOf;
  /// Of list parameters, which few declarations have.
  std::vector<std::pair<std::size_t, std::vector<const Borrowed *>>> lists;
  std::pmr::vector<const Borrowed *> outOperands;
  std::size_t operandCount = 0;
};

} // namespace quern::python
