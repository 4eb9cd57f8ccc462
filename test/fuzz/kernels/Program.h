// A generated program: its text, what it is called with, how it is judged.
#pragma once

#include "frontend/ElementType.h"
#include "test/fuzz/kernels/Choices.h"

#include <string>
#include <utility>
#include <vector>

namespace quern::fuzz {

/// What the elements of an operand may be.
enum class Content : std::uint8_t {
  Exact,  ///< small integers: sums of products are exact in any order
  Any,    ///< every magnitude, infinities, NaNs, both zeros
  Places, ///< positions along an axis of extent `extent`
};

/// How an operand lies in memory.
enum class Layout : std::uint8_t {
  Contiguous,
  Transposed,
  EverySecond,
  Offset,
  Reversed,
  Repeated, ///< stride 0 along the first axis
};

struct Operand {
  std::string name;
  std::string dimensions; ///< "[A, *S]", or "" of a scalar
  ElementType type = ElementType::F32;
  std::string typeName; ///< as written: a type parameter or `type`
  bool isTensor = true, isMutable = false;
  std::vector<std::int64_t> sizes;
  Content content = Content::Exact;
  std::int64_t extent = 0;
  Layout layout = Layout::Contiguous;
  unsigned seed = 0;
};

struct Program {
  std::string text;
  std::vector<Operand> operands;
  std::vector<ElementType> typeArguments;
  /// Values of compile-time parameters by name: numbers or a function.
  std::vector<std::pair<std::string, std::int64_t>> numbers;
  std::vector<std::pair<std::string, std::string>> functions;
  /// Results of `k` that a declaration `bounds` gives an error bound for, as
  /// the sum of magnitudes; all others must agree in every bit.
  bool hasBounds = false;
  /// How many terms a sum with a bound has at most.
  std::int64_t terms = 0;
  std::string target; ///< a machine by name, "" for this one
  Layout outputs = Layout::Contiguous;
};

/// The program that the choices stand for.
Program generate(Choices &choices);

} // namespace quern::fuzz
