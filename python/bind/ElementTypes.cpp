// Element types as DLPack, the buffer protocol and NumPy name them.
#include "python/bind/ElementTypes.h"

#include <array>

namespace quern::python {
namespace {

struct Row {
  DType type;
  std::uint8_t code, bits;
  char format;
  const char *numpy;
  const char *spelling;
};

constexpr std::array rows = {
#define QN_EXTERNAL(type, code, bits, format, numpy, spelling)                 \
  Row{DType::type, code, bits, format, numpy, spelling},
#include "python/bind/ElementTypes.def"
};

const Row &rowOf(DType type) { return rows[static_cast<std::size_t>(type)]; }

/// 'l' and 'q' are both 64 bits here, and so are 'L' and 'Q'.
char canonicalFormat(char format) {
  if (format == 'q')
    return 'l';
  return format == 'Q' ? 'L' : format;
}

} // namespace

std::optional<DType> fromDlpack(DLDataType type) {
  if (type.lanes != 1)
    return std::nullopt;
  for (const Row &row : rows)
    if (row.code == type.code && row.bits == type.bits)
      return row.type;
  return std::nullopt;
}

DLDataType toDlpack(DType type) {
  const Row &row = rowOf(type);
  return {row.code, row.bits, 1};
}

std::optional<DType> fromBufferFormat(const char *format, long itemBytes) {
  std::string_view text = format ? format : "B";
  if (text.starts_with('@') || text.starts_with('=') || text.starts_with('<'))
    text.remove_prefix(1);
  if (text == "Zf")
    return DType::C64;
  if (text == "Zd")
    return DType::C128;
  if (text.size() != 1)
    return std::nullopt;
  for (const Row &row : rows)
    if (row.format && row.format == canonicalFormat(text[0]) &&
        row.bits == 8 * itemBytes)
      return row.type;
  return std::nullopt;
}

const char *numpyName(DType type) { return rowOf(type).numpy; }

std::optional<DType> typeNamed(std::string_view name) {
  for (const Row &row : rows)
    if (name == row.numpy)
      return row.type;
  return std::nullopt;
}

unsigned bytesOf(DType type) { return rowOf(type).bits / 8; }

std::optional<std::string_view> languageSpelling(std::string_view name) {
  if (name.starts_with("torch."))
    name.remove_prefix(6);
  for (const Row &row : rows)
    if (name == row.numpy || name == row.spelling)
      return row.spelling;
  return std::nullopt;
}

} // namespace quern::python
