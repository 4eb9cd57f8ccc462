// Parts of the text that a driver compiles.
#pragma once

#include <string>
#include <string_view>

namespace quern::jit {

/// A module of PTX with one of its entries, and everything that is no entry.
/// Nothing where that is all there is, or the image is no PTX.
std::string textOfEntry(std::string_view image, std::string_view symbol);

} // namespace quern::jit
