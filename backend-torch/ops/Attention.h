// Attention, found by the shape of the computation.
#pragma once

#include "backend-torch/ops/Operation.h"

namespace quern {

/// For each node the number of the attention it is a part of, or -1. One is a
/// product, what is made of it element by element, a row-wise operator along
/// its last dimension (a softmax), and the product of this with something;
/// nothing on the way is needed elsewhere. What is a product the library's rows
/// say: two tensors that share an axis which the result lacks.
///
/// As one kernel it needs no memory for the scores. The time of its pieces with
/// our own products over its own, without and with an added mask; batches x
/// queries x keys x width, f32, 2 threads of an AMD EPYC (Zen 4):
/// 8x1024x1024x64 1.88, 1.90; 16x256x256x64 1.39, 1.42;
/// 24x197x197x64 1.29, 1.07; 4x512x512x128 1.12, 1.12; 32x128x128x64 1.12,
/// 0.97; 16x256x256x32 1.01, 0.89; 32x64x128x64 0.89, 0.93.
std::vector<int> findAttention(const Graph &graph,
                               const std::vector<Operation> &operations,
                               const OperatorTable &table);

} // namespace quern
