// The steps of a binding in order, and the scalars.
#include "jit/bind/Environment.h"
#include "jit/bind/Numbers.h"

using namespace quern;
using namespace quern::jit;
using namespace quern::typed;

namespace {

/// The values of a scalar parameter; a single number stands for every axis of
/// a pack, as in PyTorch.
std::optional<std::vector<HostValue>>
valuesOf(const Parameter &parameter, const Argument &argument,
         std::size_t count, const SolutionEnvironment &environment) {
  std::vector<HostValue> values;
  if (auto *list = std::get_if<std::vector<std::int64_t>>(&argument))
    for (std::int64_t value : *list)
      values.push_back(HostValue::of(value));
  else if (auto *list = std::get_if<std::vector<double>>(&argument))
    for (double value : *list)
      values.push_back(HostValue::of(value));
  else if (auto value = hostValueOf(argument))
    values.assign(count, *value);
  else if (parameter.defaultValue)
    for (unsigned element = 0; element < count; ++element) {
      std::string problem;
      auto value =
          environment.evaluate(*parameter.defaultValue, element, problem);
      if (!value)
        return std::nullopt;
      values.push_back(*value);
    }
  return values;
}

} // namespace

std::string quern::jit::deviceText(DeviceId device) {
  switch (device.kind) {
  case DeviceKind::Cpu:
    return "the CPU";
  case DeviceKind::Cuda:
    return "CUDA device " + std::to_string(device.number);
  case DeviceKind::Hip:
    return "HIP device " + std::to_string(device.number);
  }
  llvm_unreachable("every kind has its name");
}

llvm::ArrayRef<TensorView> quern::jit::tensorsOf(const Argument &argument) {
  if (const auto *view = std::get_if<TensorView>(&argument))
    return llvm::ArrayRef(*view);
  if (const auto *list = std::get_if<std::vector<TensorView>>(&argument))
    return *list;
  return {};
}

std::optional<DeviceId> quern::jit::commonDevice(const CallRequest &request,
                                                 DiagnosticEngine &report) {
  const TensorView *first = nullptr;
  llvm::StringRef firstName;
  auto agrees = [&](const TensorView &view, llvm::StringRef name, Span span) {
    if (!first) {
      first = &view;
      firstName = name;
    }
    if (view.device == first->device)
      return true;
    report.report(span, fault::DeviceMismatch, name, deviceText(view.device),
                  firstName, deviceText(first->device));
    return false;
  };
  for (auto [parameter, argument] :
       llvm::zip(request.declaration.parameters, request.arguments))
    for (const TensorView &view : tensorsOf(argument))
      if (!agrees(view, parameter.variable->name, parameter.variable->span))
        return std::nullopt;
  for (const TensorView &view : request.outs)
    if (!agrees(view, "out", request.declaration.nameSpan))
      return std::nullopt;
  return first ? first->device : DeviceId{};
}

bool quern::jit::solveScalars(const CallRequest &request, Solution &solution,
                              DiagnosticEngine &report) {
  SolutionEnvironment environment(request, solution);
  for (auto [parameter, argument] :
       llvm::zip_equal(request.declaration.parameters, request.arguments)) {
    if (parameter.isTensor)
      continue;
    const Variable &variable = *parameter.variable;
    std::size_t count = parameter.count > 0 ? parameter.count : 1;
    if (parameter.pack.valid())
      count = solution.axes[parameter.pack.index].extents.size();
    auto values = valuesOf(parameter, argument, count, environment);
    if (!values) {
      report.report(variable.span, fault::ArgumentMissing, variable.name);
      return false;
    }
    if (values->size() != count) {
      report.report(variable.span, fault::ScalarCount, variable.name,
                    values->size(), count);
      return false;
    }
    ElementType type = parameter.element.substitute(solution.types);
    for (const HostValue &value : *values) {
      std::uint64_t bits[2];
      if (!encodeElement(value, type, bits)) {
        report.report(variable.span, fault::ScalarExpected, variable.name,
                      spelling(type), misfit(value));
        return false;
      }
      bool isSingle = type == ElementType::C64;
      solution.scalars.push_back(isSingle ? bits[0] & 0xffffffff : bits[0]);
      if (kindOf(type) == ElementKind::Complex)
        solution.scalars.push_back(isSingle ? bits[0] >> 32 : bits[1]);
    }
  }
  for (const JoinedAxis &joined : solution.joined) {
    std::uint64_t end = 0;
    for (const AxisGroup &part : joined.parts)
      solution.scalars.push_back(end += part.extents.front());
  }
  return true;
}

std::optional<Binding> quern::jit::bindCall(const CallRequest &request,
                                            const Observed &observed,
                                            DiagnosticEngine &report) {
  const Declaration &declaration = request.declaration;
  if (declaration.hasError) {
    report.report(declaration.nameSpan, fault::DeclarationHasError,
                  declaration.name);
    return std::nullopt;
  }
  if (!declaration.isCompiled()) {
    report.report(declaration.nameSpan, fault::NotCallable, declaration.name,
                  keyword(declaration.kind));
    return std::nullopt;
  }
  if (request.arguments.size() != declaration.parameters.size()) {
    report.report(declaration.nameSpan, fault::ArgumentCount, declaration.name,
                  declaration.parameters.size(), request.arguments.size());
    return std::nullopt;
  }
  Solution solution;
  if (!solveTypes(request, solution, report) ||
      !solveConstants(request, solution, report) ||
      !solveAxes(request, solution, report) ||
      !solveScalars(request, solution, report) ||
      !solveOutputs(request, solution, report))
    return std::nullopt;
  return collapse(declaration, observed, std::move(solution));
}
