// Views of tensors in an `op`: other sizes, strides and offsets, one memory.
#pragma once

#include "jit/op/Plan.h"

#include <optional>

namespace quern::jit {

/// Each gives nothing when the numbers do not fit the tensor. Axes may count
/// from the end, as -1.
std::optional<PlanTensor> permuted(PlanTensor tensor, Numbers axes);
std::optional<PlanTensor> sliced(PlanTensor tensor, std::int64_t axis,
                                 std::optional<std::int64_t> begin,
                                 std::optional<std::int64_t> end,
                                 std::int64_t step);
std::optional<PlanTensor> selected(PlanTensor tensor, std::int64_t axis,
                                   std::int64_t position);
/// -1 keeps an extent; an axis of extent 1 grows.
std::optional<PlanTensor> expanded(PlanTensor tensor, Numbers sizes);
/// Two axes change places.
std::optional<PlanTensor> transposed(PlanTensor tensor, std::int64_t one,
                                     std::int64_t other);
std::optional<PlanTensor> unsqueezed(PlanTensor tensor, std::int64_t axis);
std::optional<PlanTensor> squeezed(PlanTensor tensor, std::int64_t axis);
/// The sizes with a -1 replaced by what is left.
std::optional<Extents> reshapedSizes(const PlanTensor &tensor, Numbers sizes);
/// The same elements in order, if strides can say so.
std::optional<PlanTensor> reshaped(PlanTensor tensor, Numbers sizes);
std::optional<PlanTensor> reinterpreted(PlanTensor tensor, ElementType type);
/// The parts of complex numbers as a last axis of two, and back.
std::optional<PlanTensor> asReal(PlanTensor tensor);
std::optional<PlanTensor> asComplex(PlanTensor tensor);
/// Sizes, strides and an offset from the tensor's first element, or none, all
/// in elements; within `bytes` of the tensor's memory.
std::optional<PlanTensor> strided(PlanTensor tensor, Numbers numbers,
                                  std::int64_t bytes);
std::optional<std::int64_t> axisOf(const PlanTensor &tensor, std::int64_t axis,
                                   std::int64_t extra = 0);

} // namespace quern::jit
