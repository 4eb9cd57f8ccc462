// Tensors of a generated program in memory, in any layout.
#pragma once

#include "frontend/eval/Value.h"
#include "jit/Jit.h"
#include "test/fuzz/kernels/Program.h"

#include <string>
#include <vector>

namespace quern::fuzz {

/// Elements in a buffer of their own; the rest of the buffer is never touched.
struct Memory {
  ElementType type = ElementType::F32;
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0; ///< of the first element
  std::vector<std::uint8_t> bytes;

  void *data() { return bytes.data() + offset * bytesOf(type); }
  eval::Tensor tensor() { return {type, data(), sizes, strides}; }
  TensorView view() {
    return {.data = data(),
            .type = static_cast<DType>(type),
            .sizes = sizes,
            .strides = strides};
  }
};

/// Memory for a tensor, every byte of it the same.
Memory laidOut(ElementType type, std::vector<std::int64_t> sizes,
               Layout layout);
/// What an operand holds.
Memory contentsOf(const Operand &operand);
/// The number that a scalar operand stands for.
double numberOf(const Operand &operand);

/// Where two tensors, or what lies around them, differ; nothing if nowhere.
/// One NaN is as good as another; with `zerosAgree` one zero as well.
std::string difference(Memory &got, Memory &wanted, bool zerosAgree);

} // namespace quern::fuzz
