// Whether a tensor is one that a kernel was made for.
#pragma once

#include "backend-torch/run/Executor.h"

#include <ATen/ATen.h>

namespace quern {

/// Of what may be anything, in all but its strides.
inline bool matches(const c10::IValue &value, const ExpectedTensor &expected) {
  if (!value.isTensor())
    return false;
  const at::Tensor &tensor = value.toTensor();
  return tensor.defined() && tensor.layout() == at::kStrided &&
         tensor.sizes().equals(expected.sizes) &&
         tensor.scalar_type() == expected.type &&
         (!expected.device || tensor.device() == *expected.device);
}

/// Whether every element of a tensor of these bytes lies inside its storage,
/// which others may have made smaller since the tensor was.
inline bool isInStorage(const at::Tensor &tensor, std::size_t bytes) {
  auto offset = static_cast<std::size_t>(tensor.storage_offset());
  return bytes == 0 ||
         bytes + offset * tensor.dtype().itemsize() <=
             tensor.unsafeGetTensorImpl()->unsafe_storage().nbytes();
}

/// Whether it is as it was traced, strides included: what nearly every argument
/// is.
inline bool isAsTraced(const c10::IValue &value,
                       const ExpectedTensor &expected) {
  return matches(value, expected) &&
         value.toTensor().strides().equals(expected.strides) &&
         isInStorage(value.toTensor(), expected.bytes);
}

} // namespace quern
