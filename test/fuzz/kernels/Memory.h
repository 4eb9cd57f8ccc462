// Tensors of a generated program in memory, in any layout.
#pragma once

#include "frontend/eval/Value.h"
#include "jit/Jit.h"
#include "test/fuzz/kernels/Program.h"

#include <memory>
#include <string>
#include <vector>

namespace quern::fuzz {

/// Bytes right behind a page that cannot be touched, or right in front of one:
/// who reads or writes outside of them ends the process.
class GuardedBytes {
public:
  GuardedBytes() = default;
  GuardedBytes(std::size_t count, bool isAtEnd, std::uint8_t value);
  GuardedBytes copy() const;

  std::uint8_t *data() const { return first; }
  std::size_t size() const { return count; }
  std::uint8_t operator[](std::size_t at) const { return first[at]; }

private:
  struct Unmap {
    std::size_t size;
    void operator()(std::uint8_t *pages) const;
  };
  std::unique_ptr<std::uint8_t, Unmap> pages;
  std::uint8_t *first = nullptr;
  std::size_t count = 0;
  bool isAtEnd = false;
};

/// Elements in a buffer of their own; the rest of the buffer is never touched.
struct Memory {
  ElementType type = ElementType::F32;
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0; ///< of the first element
  GuardedBytes bytes;

  Memory copy() const { return {type, sizes, strides, offset, bytes.copy()}; }
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
Memory laidOut(ElementType type, std::vector<std::int64_t> sizes, Layout layout,
               bool isAtEnd);
/// What an operand holds.
Memory contentsOf(const Operand &operand);
/// The number that a scalar operand stands for.
double numberOf(const Operand &operand);

/// Where two tensors, or what lies around them, differ; nothing if nowhere.
/// One NaN is as good as another; with `zerosAgree` one zero as well.
std::string difference(Memory &got, Memory &wanted, bool zerosAgree);

} // namespace quern::fuzz
