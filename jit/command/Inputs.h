// Tensors of generated numbers for `quern run`.
#pragma once

#include "jit/command/Command.h"

#include <memory>
#include <random>

namespace quern::command {

/// A tensor that owns its memory; there is none where it is too large.
struct OwnedTensor {
  OwnedTensor(ElementType type, std::vector<std::int64_t> sizes);
  TensorView view();
  std::int64_t count() const;

  ElementType type;
  std::vector<std::int64_t> sizes, strides;
  struct Free {
    void operator()(void *memory) const;
  };
  std::unique_ptr<void, Free> memory;
};

/// Numbers in [-1, 1), small integers, coin flips.
void fillRandom(OwnedTensor &tensor, std::mt19937_64 &source);
double elementAt(const OwnedTensor &tensor, std::int64_t index);
/// The first elements, and the mean of all.
struct Summary {
  std::vector<double> first;
  double mean = 0;
};
Summary summarize(const OwnedTensor &tensor);
/// "f32[64, 64]: -0.1, 0.2, … mean 0.01".
std::string summary(const OwnedTensor &tensor);

} // namespace quern::command
