// Fills and prints tensors of any element type.
#include "jit/command/Inputs.h"

#include "frontend/typed/Arithmetic.h"
#include "jit/bind/Numbers.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cstdlib>
#include <cstring>
#include <limits>

using namespace quern;
using namespace quern::command;

void OwnedTensor::Free::operator()(void *memory) const { std::free(memory); }

OwnedTensor::OwnedTensor(ElementType type, std::vector<std::int64_t> given)
    : type(type), sizes(std::move(given)), strides(sizes.size()) {
  std::int64_t step = 1;
  bool isTooLarge = false;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = step;
    isTooLarge |= llvm::MulOverflow(step, sizes[axis], step);
  }
  constexpr std::size_t alignment = 64;
  constexpr auto most = std::numeric_limits<std::int64_t>::max() / 64;
  if (isTooLarge || step > most)
    return;
  std::size_t bytes = step * bytesOf(type) + 1;
  memory.reset(std::aligned_alloc(alignment, (bytes + alignment - 1) /
                                                 alignment * alignment));
}

std::int64_t OwnedTensor::count() const {
  std::int64_t count = 1;
  for (std::int64_t size : sizes)
    count *= size;
  return count;
}

TensorView OwnedTensor::view() {
  return {.data = memory.get(),
          .type = static_cast<DType>(type),
          .sizes = sizes,
          .strides = strides,
          .writable = true};
}

void command::fillRandom(OwnedTensor &tensor, std::mt19937_64 &source) {
  auto *bytes = static_cast<char *>(tensor.memory.get());
  if (!bytes)
    return;
  unsigned width = bytesOf(tensor.type);
  ElementKind kind = kindOf(tensor.type);
  bool isComplex = kind == ElementKind::Complex;
  ElementType part = tensor.type;
  if (isComplex)
    part =
        tensor.type == ElementType::C64 ? ElementType::F32 : ElementType::F64;
  unsigned partWidth = bytesOf(part);
  for (std::int64_t i = 0; i < tensor.count() * width; i += partWidth) {
    double number = static_cast<double>(source() >> 11) * 0x1p-52 - 1;
    if (kind == ElementKind::Bool)
      number = number < 0;
    if (kind == ElementKind::Signed || kind == ElementKind::Unsigned)
      number = static_cast<double>(source() % 10);
    std::uint64_t bits[2];
    jit::encodeElement(jit::HostValue::of(number), part, bits);
    std::memcpy(bytes + i, bits, partWidth);
  }
}

double command::elementAt(const OwnedTensor &tensor, std::int64_t index) {
  const char *at = static_cast<const char *>(tensor.memory.get()) +
                   index * bytesOf(tensor.type);
  unsigned width = bitsOf(tensor.type);
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, std::min<std::size_t>(bytesOf(tensor.type), 8));
  if (kindOf(tensor.type) == ElementKind::Signed)
    return static_cast<double>(
        static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width));
  if (kindOf(tensor.type) == ElementKind::Unsigned ||
      kindOf(tensor.type) == ElementKind::Bool)
    return static_cast<double>(bits);
  unsigned partWidth =
      kindOf(tensor.type) == ElementKind::Complex ? width / 2 : width;
  bool lost;
  llvm::APFloat number(typed::floatSemantics(tensor.type),
                       llvm::APInt(partWidth, bits, false, true));
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

Summary command::summarize(const OwnedTensor &tensor) {
  constexpr std::int64_t shown = 6;
  Summary made;
  std::int64_t count = tensor.count();
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    double value = elementAt(tensor, i);
    sum += value;
    if (i < shown)
      made.first.push_back(value);
  }
  made.mean = sum / static_cast<double>(count);
  return made;
}

std::string command::summary(const OwnedTensor &tensor) {
  std::string text = spelling(tensor.type).data();
  text += jit::shapeText(tensor.sizes) + ":";
  Summary made = summarize(tensor);
  for (double value : made.first)
    text += llvm::formatv(" {0:f6}", value);
  if (tensor.count() > static_cast<std::int64_t>(made.first.size()))
    text += llvm::formatv(" … mean {0:f6}", made.mean);
  return text;
}
