// Arithmetic on sizes and strides.
#include "jit/op/Views.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace quern;
using namespace quern::jit;

std::optional<std::int64_t> jit::axisOf(const PlanTensor &tensor,
                                        std::int64_t axis, std::int64_t extra) {
  auto rank = static_cast<std::int64_t>(tensor.sizes.size()) + extra;
  if (axis < 0)
    axis += rank;
  return axis < 0 || axis >= rank ? std::nullopt : std::optional(axis);
}

/// What has more elements than there can be places is no tensor.
static std::optional<PlanTensor> onlyAddressable(PlanTensor tensor) {
  if (!isAddressable(tensor.sizes, tensor.type))
    return std::nullopt;
  return tensor;
}

std::optional<PlanTensor> jit::permuted(PlanTensor tensor, Numbers axes) {
  if (axes.size() != tensor.sizes.size())
    return std::nullopt;
  PlanTensor result = tensor;
  llvm::SmallVector<bool, 8> seen(axes.size());
  for (auto [place, given] : llvm::enumerate(axes)) {
    auto axis = axisOf(tensor, given);
    if (!axis || seen[*axis])
      return std::nullopt;
    seen[*axis] = true;
    result.sizes[place] = tensor.sizes[*axis];
    result.strides[place] = tensor.strides[*axis];
  }
  return result;
}

std::optional<PlanTensor> jit::transposed(PlanTensor tensor, std::int64_t one,
                                          std::int64_t other) {
  auto first = axisOf(tensor, one), second = axisOf(tensor, other);
  if (!first || !second)
    return std::nullopt;
  std::swap(tensor.sizes[*first], tensor.sizes[*second]);
  std::swap(tensor.strides[*first], tensor.strides[*second]);
  return tensor;
}

/// Bounds beyond the ends are moved to them, as in Python.
std::optional<PlanTensor> jit::sliced(PlanTensor tensor, std::int64_t given,
                                      std::optional<std::int64_t> begin,
                                      std::optional<std::int64_t> end,
                                      std::int64_t step) {
  auto axis = axisOf(tensor, given);
  if (!axis || step <= 0)
    return std::nullopt;
  std::int64_t size = tensor.sizes[*axis];
  auto bound = [&](std::int64_t value) {
    return std::clamp<std::int64_t>(value < 0 ? value + size : value, 0, size);
  };
  std::int64_t low = bound(begin.value_or(0)), high = bound(end.value_or(size));
  tensor.offset += low * tensor.strides[*axis] * bytesOf(tensor.type);
  tensor.sizes[*axis] = low < high ? (high - low - 1) / step + 1 : 0;
  if (tensor.sizes[*axis] > 1)
    tensor.strides[*axis] *= step;
  return tensor;
}

std::optional<PlanTensor> jit::selected(PlanTensor tensor, std::int64_t given,
                                        std::int64_t position) {
  auto axis = axisOf(tensor, given);
  if (!axis)
    return std::nullopt;
  if (position < 0)
    position += tensor.sizes[*axis];
  if (position < 0 || position >= tensor.sizes[*axis])
    return std::nullopt;
  tensor.offset += position * tensor.strides[*axis] * bytesOf(tensor.type);
  tensor.sizes.erase(tensor.sizes.begin() + *axis);
  tensor.strides.erase(tensor.strides.begin() + *axis);
  return tensor;
}

std::optional<PlanTensor> jit::expanded(PlanTensor tensor, Numbers sizes) {
  if (sizes.size() < tensor.sizes.size())
    return std::nullopt;
  std::size_t fresh = sizes.size() - tensor.sizes.size();
  tensor.sizes.insert(tensor.sizes.begin(), fresh, 1);
  tensor.strides.insert(tensor.strides.begin(), fresh, 0);
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    if (size == -1 || size == tensor.sizes[axis])
      continue;
    if (tensor.sizes[axis] != 1 || size < 0)
      return std::nullopt;
    tensor.sizes[axis] = size;
    tensor.strides[axis] = 0;
  }
  return onlyAddressable(std::move(tensor));
}

std::optional<PlanTensor> jit::unsqueezed(PlanTensor tensor,
                                          std::int64_t given) {
  auto axis = axisOf(tensor, given, 1);
  if (!axis)
    return std::nullopt;
  bool isLast = *axis == static_cast<std::int64_t>(tensor.sizes.size());
  std::int64_t stride =
      isLast ? 1 : tensor.sizes[*axis] * tensor.strides[*axis];
  tensor.sizes.insert(tensor.sizes.begin() + *axis, 1);
  tensor.strides.insert(tensor.strides.begin() + *axis, stride);
  return tensor;
}

/// An axis that is not of extent 1 stays, as in PyTorch.
std::optional<PlanTensor> jit::squeezed(PlanTensor tensor, std::int64_t given) {
  auto axis = axisOf(tensor, given);
  if (!axis)
    return std::nullopt;
  if (tensor.sizes[*axis] != 1)
    return tensor;
  return selected(std::move(tensor), *axis, 0);
}

std::optional<Extents> jit::reshapedSizes(const PlanTensor &tensor,
                                          Numbers sizes) {
  Extents result(sizes.begin(), sizes.end());
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    if (size == -1 && !open)
      open = axis;
    else if (size < 0)
      return std::nullopt;
    else if (llvm::MulOverflow(known, size, known))
      return std::nullopt;
  }
  std::int64_t count = tensor.elements();
  if (open) {
    if (known == 0 || count % known != 0)
      return std::nullopt;
    result[*open] = count / known;
  } else if (known != count) {
    return std::nullopt;
  }
  return result;
}

/// Axes are merged while one stride walks them, and each run of axes must be
/// split exactly by the new sizes.
std::optional<PlanTensor> jit::reshaped(PlanTensor tensor, Numbers sizes) {
  PlanTensor result = tensor;
  result.sizes.assign(sizes.begin(), sizes.end());
  if (tensor.elements() == 0 || tensor.isContiguous()) {
    result.strides = contiguousStrides(sizes);
    return result;
  }
  struct Piece {
    std::int64_t size, stride;
  };
  llvm::SmallVector<Piece, 6> pieces;
  for (auto [size, stride] : llvm::zip(tensor.sizes, tensor.strides)) {
    if (size == 1)
      continue;
    if (!pieces.empty() && pieces.back().stride == size * stride)
      pieces.back() = {pieces.back().size * size, stride};
    else
      pieces.push_back({size, stride});
  }
  result.strides.assign(sizes.size(), 1);
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    if (sizes[axis] == 1)
      continue;
    if (pieces.empty() || pieces.back().size % sizes[axis] != 0)
      return std::nullopt;
    Piece &piece = pieces.back();
    result.strides[axis] = piece.stride;
    piece = {piece.size / sizes[axis], piece.stride * sizes[axis]};
    if (piece.size == 1)
      pieces.pop_back();
  }
  return result;
}

/// Elements of another width divide or merge along the last axis.
std::optional<PlanTensor> jit::reinterpreted(PlanTensor tensor,
                                             ElementType type) {
  std::int64_t from = bytesOf(tensor.type), to = bytesOf(type);
  tensor.type = type;
  if (from == to)
    return tensor;
  if (tensor.sizes.empty() || tensor.strides.back() != 1)
    return std::nullopt;
  std::int64_t bytes = tensor.sizes.back() * from;
  if (bytes % to != 0 || tensor.offset % to != 0)
    return std::nullopt;
  tensor.sizes.back() = bytes / to;
  for (std::int64_t &stride :
       llvm::MutableArrayRef(tensor.strides).drop_back()) {
    if (stride * from % to != 0)
      return std::nullopt;
    stride = stride * from / to;
  }
  return tensor;
}

std::optional<PlanTensor> jit::asReal(PlanTensor tensor) {
  tensor.type =
      tensor.type == ElementType::C128 ? ElementType::F64 : ElementType::F32;
  for (std::int64_t &stride : tensor.strides)
    stride *= 2;
  tensor.sizes.push_back(2);
  tensor.strides.push_back(1);
  return tensor;
}

std::optional<PlanTensor> jit::asComplex(PlanTensor tensor) {
  if (tensor.sizes.empty() || tensor.sizes.back() != 2 ||
      tensor.strides.back() != 1)
    return std::nullopt;
  tensor.type =
      tensor.type == ElementType::F64 ? ElementType::C128 : ElementType::C64;
  tensor.sizes.pop_back();
  tensor.strides.pop_back();
  if (tensor.offset % bytesOf(tensor.type) != 0)
    return std::nullopt;
  for (std::int64_t &stride : tensor.strides) {
    if (stride % 2 != 0)
      return std::nullopt;
    stride /= 2;
  }
  return tensor;
}

std::optional<PlanTensor> jit::strided(PlanTensor tensor, Numbers numbers,
                                       std::int64_t bytes) {
  std::size_t rank = numbers.size() / 2;
  tensor.sizes.assign(numbers.begin(), numbers.begin() + rank);
  tensor.strides.assign(numbers.begin() + rank, numbers.begin() + 2 * rank);
  std::int64_t width = bytesOf(tensor.type);
  std::int64_t shift = numbers.size() % 2 != 0 ? numbers.back() : 0;
  if (llvm::MulOverflow(shift, width, shift) ||
      llvm::AddOverflow(tensor.offset, shift, tensor.offset))
    return std::nullopt;
  std::int64_t low = tensor.offset, high = tensor.offset;
  for (auto [size, stride] : llvm::zip_equal(tensor.sizes, tensor.strides)) {
    std::int64_t reach = 0;
    std::int64_t &end = stride < 0 ? low : high;
    if (size > 1 && (llvm::MulOverflow(size - 1, stride, reach) ||
                     llvm::MulOverflow(reach, width, reach) ||
                     llvm::AddOverflow(end, reach, end)))
      return std::nullopt;
  }
  bool isEmpty = llvm::is_contained(tensor.sizes, 0);
  if (!isEmpty && (low < 0 || high > bytes - width))
    return std::nullopt;
  return onlyAddressable(std::move(tensor));
}
