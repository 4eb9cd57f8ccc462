// Fills and compares tensors.
#include "test/fuzz/kernels/Memory.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <sys/mman.h>
#include <unistd.h>

namespace quern::fuzz {

constexpr std::uint8_t untouched = 0xA5;

void GuardedBytes::Unmap::operator()(std::uint8_t *pages) const {
  munmap(pages, size);
}

GuardedBytes::GuardedBytes(std::size_t count, bool isAtEnd, std::uint8_t value)
    : count(count), isAtEnd(isAtEnd) {
  auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t inner = (count + page - 1) / page * page;
  std::size_t size = inner + 2 * page;
  void *made = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                    /*offset=*/0);
  if (made == MAP_FAILED)
    std::abort();
  pages = {static_cast<std::uint8_t *>(made), Unmap{size}};
  std::uint8_t *usable = pages.get() + page;
  if (mprotect(usable, inner, PROT_READ | PROT_WRITE) != 0)
    std::abort();
  first = usable + (isAtEnd ? inner - count : 0);
  std::memset(first, value, count);
}

GuardedBytes GuardedBytes::copy() const {
  GuardedBytes other(count, isAtEnd, 0);
  std::memcpy(other.first, first, count);
  return other;
}

Memory laidOut(ElementType type, std::vector<std::int64_t> sizes, Layout layout,
               bool isAtEnd) {
  Memory memory;
  memory.type = type;
  memory.sizes = std::move(sizes);
  std::size_t rank = memory.sizes.size();
  memory.strides.assign(rank, 1);
  std::vector<std::size_t> order; // innermost first
  for (std::size_t axis = rank; axis-- > 0;)
    order.push_back(axis);
  if (layout == Layout::Transposed)
    std::reverse(order.begin(), order.end());
  std::int64_t step = layout == Layout::EverySecond ? 2 : 1;
  for (std::size_t axis : order) {
    memory.strides[axis] = step;
    if (layout == Layout::Repeated && axis == 0)
      memory.strides[axis] = 0;
    else
      step *= std::max<std::int64_t>(memory.sizes[axis], 1);
  }
  constexpr std::int64_t offset = 3;
  if (layout == Layout::Offset)
    memory.offset = offset;
  if (layout == Layout::Reversed && rank > 0 && memory.sizes.back() > 0) {
    memory.offset = memory.strides.back() * (memory.sizes.back() - 1);
    memory.strides.back() = -memory.strides.back();
  }
  std::size_t elements = static_cast<std::size_t>(step);
  if (layout == Layout::Offset)
    elements += offset;
  memory.bytes = GuardedBytes(elements * bytesOf(type), isAtEnd, untouched);
  return memory;
}

/// Calls `visit` with the offset of every element in row-major order.
static void forElements(const Memory &memory,
                        const std::function<void(std::int64_t)> &visit) {
  std::function<void(std::size_t, std::int64_t)> nest =
      [&](std::size_t axis, std::int64_t offset) {
        if (axis == memory.sizes.size())
          return visit(offset);
        for (std::int64_t i = 0; i < memory.sizes[axis]; ++i)
          nest(axis + 1, offset + i * memory.strides[axis]);
      };
  nest(0, 0);
}

static double anyFloat(std::mt19937_64 &engine) {
  static constexpr double edges[] = {0.0, -0.0,     1.0,       -1.0,
                                     0.5, INFINITY, -INFINITY, NAN,
                                     3e4, -128.5,   1e-40,     2147483648.0};
  if (engine() % 3 == 0)
    return edges[engine() % std::size(edges)];
  std::normal_distribution<double> normal;
  return normal(engine) * std::pow(10.0, static_cast<double>(engine() % 7) - 3);
}

static eval::Value elementOf(const Operand &operand, std::mt19937_64 &engine) {
  using eval::Value;
  using typed::Constant;
  ElementType type = operand.type;
  ElementKind kind = kindOf(type);
  if (operand.content == Content::Places) {
    std::int64_t extent = std::max<std::int64_t>(operand.extent, 1);
    std::int64_t place = static_cast<std::int64_t>(engine() % extent);
    bool isWrong = operand.seed % 40 == 39 && engine() % 4 == 0;
    return Value::integer(isWrong ? extent : place);
  }
  if (kind == ElementKind::Bool)
    return Value::boolean(engine() % 2);
  if (kind == ElementKind::Float) {
    double value = operand.content == Content::Exact
                       ? static_cast<double>(engine() % 9) - 4
                       : anyFloat(engine);
    return cast(Value::of(ElementType::F64, Constant::ofFloat(value)), type);
  }
  if (kind == ElementKind::Complex) {
    auto part = [&] {
      return operand.content == Content::Exact
                 ? static_cast<double>(engine() % 9) - 4
                 : anyFloat(engine);
    };
    double real = part();
    return Value::complex(type, real, part());
  }
  std::int64_t low = kind == ElementKind::Signed ? -4 : 0;
  std::int64_t value = static_cast<std::int64_t>(engine() % (5 - low)) + low;
  if (operand.content == Content::Any && engine() % 3 == 0)
    value = static_cast<std::int64_t>(engine());
  return cast(Value::integer(value), type);
}

Memory contentsOf(const Operand &operand) {
  Memory memory =
      laidOut(operand.type, operand.sizes, operand.layout, operand.seed % 2);
  std::mt19937_64 engine(operand.seed);
  forElements(memory, [&](std::int64_t offset) {
    writeElement(memory.tensor(), offset, elementOf(operand, engine));
  });
  return memory;
}

double numberOf(const Operand &operand) {
  if (operand.type == ElementType::Bool)
    return operand.seed % 2;
  bool isSigned = kindOf(operand.type) != ElementKind::Unsigned;
  return static_cast<double>(operand.seed % 5) - (isSigned ? 2 : 0);
}

/// One NaN is as good as another, part by part.
static bool isSame(const eval::Value &a, const eval::Value &b,
                   bool zerosAgree) {
  auto isSamePart = [=](double x, double y) {
    return std::memcmp(&x, &y, sizeof x) == 0 || (zerosAgree && x == y) ||
           (std::isnan(x) && std::isnan(y));
  };
  return a.real.kind == typed::Constant::Kind::Float &&
         isSamePart(a.real.floating, b.real.floating) &&
         isSamePart(a.imaginary, b.imaginary);
}

static std::string spelled(const eval::Value &value) {
  if (value.real.kind == typed::Constant::Kind::Integer)
    return std::to_string(value.real.integer);
  char text[64];
  if (value.isComplex())
    std::snprintf(text, sizeof text, "%.17g %+.17gj", value.real.floating,
                  value.imaginary);
  else
    std::snprintf(text, sizeof text, "%.17g", value.asDouble());
  return text;
}

static std::string differenceAt(std::size_t number, const eval::Value &got,
                                const eval::Value &wanted) {
  return "element " + std::to_string(number) + " is " + spelled(got) +
         ", should be " + spelled(wanted);
}

std::string difference(Memory &got, Memory &wanted, bool zerosAgree) {
  if (got.type != wanted.type || got.sizes != wanted.sizes)
    return "type or shape";
  std::vector<std::int64_t> places;
  forElements(got, [&](std::int64_t offset) { places.push_back(offset); });
  std::string text;
  std::size_t number = 0;
  auto width = static_cast<std::int64_t>(bytesOf(got.type));
  std::vector<bool> isElement(got.bytes.size());
  forElements(wanted, [&](std::int64_t offset) {
    eval::Value a = readElement(got.tensor(), places[number]);
    eval::Value b = readElement(wanted.tensor(), offset);
    auto *x = static_cast<std::uint8_t *>(got.data()) + places[number] * width;
    auto *y = static_cast<std::uint8_t *>(wanted.data()) + offset * width;
    if (std::memcmp(x, y, width) != 0 && !isSame(a, b, zerosAgree) &&
        text.empty())
      text = differenceAt(number, a, b);
    for (std::int64_t i = 0; i < width; ++i)
      isElement[x - got.bytes.data() + i] = true;
    ++number;
  });
  for (std::size_t i = 0; i < got.bytes.size() && text.empty(); ++i)
    if (!isElement[i] && got.bytes[i] != untouched)
      text = "a byte outside of the elements was written";
  return text;
}

} // namespace quern::fuzz
