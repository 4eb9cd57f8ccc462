// Attributes of a declaration after they were checked against it.
#pragma once

#include "frontend/typed/Axis.h"
#include "frontend/typed/Constant.h"

namespace quern::typed {

struct Declaration;

/// How one argument of `@aten` ties the schema to the declaration.
enum class AtenBindingKind : std::uint8_t {
  Constant,  ///< `half_to_float = false`: the overload only with this value
  Axis,      ///< `dim = C`, `dim = *C`: which axes an ATen `dim` selects
  Type,      ///< `dtype = U`: a type parameter
  Generic,   ///< `output_mask = MASK`: a compile-time parameter
  Parameter, ///< `(kh, kw) = kernel_size`: parameters from an ATen argument
  Nonempty,  ///< `nonempty = C`: only with an element along these axes
  Seed,      ///< `seed = generator`: a number drawn anew for every call
  Promotion  ///< `promotes = int_to_float`
};

struct AtenBinding {
  AtenBindingKind kind = AtenBindingKind::Constant;
  Span span;
  llvm::StringRef left, text; ///< both sides of `=` as written
  llvm::StringRef argument;   ///< the ATen argument
  /// Parameter: used when `argument` is empty or none: `stride or kernel_size`.
  llvm::StringRef alternative;
  llvm::ArrayRef<unsigned> parameters; ///< Parameter, Seed: indices, in order
  AxisId axis;
  unsigned typeParameter = 0;
  unsigned constantParameter = 0; ///< Generic
  bool isNone = false;            ///< Constant: the value is `none`
  Constant constant;
  llvm::StringRef promotion;                         ///< Promotion: its kind
  llvm::ArrayRef<llvm::StringRef> promotedArguments; ///< empty: all tensors
};

/// `@aten("silu_backward", …)`.
struct AtenAttribute {
  Span span;
  llvm::StringRef overload; ///< as written, without `aten::`
  llvm::ArrayRef<AtenBinding> bindings;
};

/// `@backward(name, saves = (x, y))`.
struct BackwardAttribute {
  Span span;
  const Declaration *declaration = nullptr;
  llvm::ArrayRef<llvm::StringRef> saves; ///< parameters or results
};

/// `@from("model.py", 12)`: where a generated text comes from.
struct OriginAttribute {
  llvm::StringRef file;
  std::int64_t line = 0;
};

struct Attributes {
  llvm::ArrayRef<AtenAttribute> aten;
  const BackwardAttribute *backward = nullptr;
  const OriginAttribute *origin = nullptr;
  llvm::ArrayRef<llvm::StringRef> expectations; ///< `@expect(vectorized)`
  bool portable = false, fastmath = false, unchecked = false;
  /// Of a reduction: its author says that `merge` commutes.
  bool commutative = false;
};

} // namespace quern::typed
