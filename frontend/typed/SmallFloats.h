// Which scalar functions see small floats as what they are.
#pragma once

namespace quern::typed {

struct Declaration;

/// Whether a `fn` asks what its types are where a small float and the type it
/// is computed in differ: `bits(T)`, `T == f16`, `epsilon(T)`, or a call of
/// such a `fn`. Lifted text then hands it the types themselves.
bool tellsSmallFloats(const Declaration &function);

} // namespace quern::typed
