// A value known when the text is checked.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace quern::typed {

/// An integer of up to 64 bits, a float as f64, a bool, or a string. Which
/// element type an Integer or Float becomes is said by the type beside it.
struct Constant {
  enum class Kind : std::uint8_t { Integer, Float, Boolean, String };

  Kind kind = Kind::Integer;
  /// Integer: the value is `integer`, taken as unsigned if `isUnsigned`.
  bool isUnsigned = false;
  union {
    std::int64_t integer = 0;
    double floating;
    bool boolean;
  };
  llvm::StringRef string;

  static Constant ofInteger(std::int64_t value) {
    Constant constant;
    constant.integer = value;
    return constant;
  }
  static Constant ofUnsigned(std::uint64_t value) {
    Constant constant = ofInteger(static_cast<std::int64_t>(value));
    constant.isUnsigned = constant.integer < 0;
    return constant;
  }
  static Constant ofFloat(double value) {
    Constant constant;
    constant.kind = Kind::Float;
    constant.floating = value;
    return constant;
  }
  static Constant ofBoolean(bool value) {
    Constant constant;
    constant.kind = Kind::Boolean;
    constant.integer = 0;
    constant.boolean = value;
    return constant;
  }
  static Constant ofString(llvm::StringRef value) {
    Constant constant;
    constant.kind = Kind::String;
    constant.string = value;
    return constant;
  }
  bool isZero() const {
    return kind == Kind::Float ? floating == 0 : integer == 0;
  }
  /// Bit by bit, so that a NaN is itself.
  bool isSame(const Constant &other) const {
    if (kind == Kind::String || kind != other.kind)
      return kind == other.kind && string == other.string;
    return isUnsigned == other.isUnsigned && integer == other.integer;
  }
};

} // namespace quern::typed
