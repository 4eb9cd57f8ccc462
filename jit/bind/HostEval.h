// Computes host expressions: extents of axes, defaults of parameters.
#pragma once

#include "frontend/typed/Declaration.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quern::jit {

/// An integer, a float, a complex number (a float with an imaginary part) or a
/// bool (an integer 0 or 1).
struct HostValue {
  bool isFloat = false;
  std::int64_t integer = 0;
  double floating = 0, imaginary = 0;
  bool isComplex = false;

  static HostValue of(std::int64_t value) { return {false, value}; }
  static HostValue of(double value) { return {true, 0, value}; }
  static HostValue of(std::complex<double> value) {
    return {true, 0, value.real(), value.imag(), true};
  }
  double asDouble() const {
    return isFloat ? floating : static_cast<double>(integer);
  }
  std::complex<double> asComplex() const { return {asDouble(), imaginary}; }
};

/// What host expressions may ask. Nothing: not known.
struct HostEnvironment {
  /// A scalar parameter, its element number `element` if it is a list.
  llvm::function_ref<std::optional<HostValue>(const typed::Variable &,
                                              unsigned element)>
      variable;
  /// The extent of an axis; of a pack its axis number `element`, or of all its
  /// axes together where there is none.
  llvm::function_ref<std::optional<std::int64_t>(
      typed::AxisId, std::optional<unsigned> element)>
      extent;
  llvm::function_ref<std::optional<HostValue>(const typed::ConstantParameter &,
                                              unsigned element)>
      constant;
  /// What is no arithmetic, in an `op`: extents of views, calls of others. May
  /// be missing.
  llvm::function_ref<std::optional<HostValue>(const typed::Expression &)>
      other = nullptr;
  unsigned element = 0; ///< which axis of a pack is being computed
  llvm::ArrayRef<ElementType> types = {}; ///< of the type parameters
};

/// Nothing, with the reason in `problem`, when the value cannot be had.
std::optional<HostValue> evaluateHost(const typed::Expression &expression,
                                      const HostEnvironment &environment,
                                      std::string &problem);

/// What a call of a `fn` returns, one value for each of its results.
std::optional<std::vector<HostValue>>
callHost(const typed::CallExpression &call, const HostEnvironment &environment,
         std::string &problem);

} // namespace quern::jit
