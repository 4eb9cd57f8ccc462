// Host numbers as the bits of an element.
#pragma once

#include "frontend/ElementType.h"
#include "jit/Jit.h"
#include "jit/bind/HostEval.h"

namespace quern::jit {

/// An integer of a width that the declaration says.
bool takesIntegers(typed::ScalarType type);

/// The number an argument is; nothing for everything else.
std::optional<HostValue> hostValueOf(const Argument &argument);

/// The value as an element of `type`, its bits from the lowest on; false when
/// it cannot be one: a fraction for an integer, or out of an integer's range.
bool encodeElement(const HostValue &value, ElementType type,
                   std::uint64_t (&bits)[2]);

/// What such a value is called.
llvm::StringRef misfit(const HostValue &value);

/// The number that an element's bytes are.
HostValue decodeElement(const void *bytes, ElementType type);

} // namespace quern::jit
