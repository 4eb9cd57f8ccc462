// Element types as DLPack, the buffer protocol and NumPy name them.
#pragma once

#include "jit/Jit.h"
#include "python/bind/Dlpack.h"

#include <optional>
#include <string_view>

namespace quern::python {

std::optional<DType> fromDlpack(DLDataType type);
DLDataType toDlpack(DType type);
/// A struct-module format of one item, native byte order.
std::optional<DType> fromBufferFormat(const char *format, long itemBytes);
const char *numpyName(DType type);
/// By NumPy's name, which is torch's as well.
std::optional<DType> typeNamed(std::string_view name);
unsigned bytesOf(DType type);
/// "float32", "torch.float32" or "f32" as the language spells it: "f32".
std::optional<std::string_view> languageSpelling(std::string_view name);

} // namespace quern::python
