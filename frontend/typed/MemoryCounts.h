// What counts of copies and tiles and extents of arrays are bound to: asked by
// the checker for literals, where code is made for compile-time parameters.
#pragma once

#include "frontend/diagnostics/Engine.h"
#include "frontend/typed/Builtin.h"

#include "llvm/Support/MathExtras.h"

namespace quern::typed {

/// Whether `builtin` says where in a tile an element of a thread lies.
inline bool isTilePlace(Builtin builtin) {
  return builtin == Builtin::TileRow || builtin == Builtin::TileColumn ||
         builtin == Builtin::TileSlot;
}

/// Whether the counts of `builtin` are the rows and columns of a tile.
inline bool isTile(Builtin builtin) {
  return builtin == Builtin::MultiplyTile ||
         builtin == Builtin::MultiplyTransposed ||
         builtin == Builtin::LoadTile || builtin == Builtin::StoreTile ||
         isTilePlace(builtin);
}

/// Says what is wrong with a count of `builtin`; false then.
inline bool isGoodCount(Builtin builtin, std::int64_t count, Span span,
                        DiagnosticEngine &diagnostics) {
  constexpr std::int64_t most = 1024, step = 16;
  std::int64_t least = builtin == Builtin::AwaitCopies ? 0 : 1;
  if (count < least || count > most)
    diagnostics.report(span, diag::CountRange, builtinInfo(builtin).spelling,
                       count, least, most);
  else if (isTile(builtin) && count % step != 0)
    diagnostics.report(span, diag::TileExtent, count, step);
  else
    return true;
  return false;
}

/// The same of the number of axes at whose place `builtin` begins: copies go
/// along the last one, tiles have rows and columns.
inline bool isGoodRank(Builtin builtin, std::size_t rank, Span span,
                       DiagnosticEngine &diagnostics) {
  std::size_t least = isTile(builtin) ? 2 : 1;
  if (rank < least)
    diagnostics.report(span, diag::PlaceAxes, builtinInfo(builtin).spelling,
                       rank, least);
  return rank >= least;
}

/// The same of an extent of a `shared` or `local` array.
inline bool isGoodExtent(llvm::StringRef array, std::int64_t extent, Span span,
                         DiagnosticEngine &diagnostics) {
  if (extent > 0)
    return true;
  diagnostics.report(span, diag::StorageSize, array, extent);
  return false;
}

/// Bytes of an array at most: the places of 64 threads beside each other still
/// have numbers of 32 bits.
constexpr std::int64_t mostArrayBytes = 1 << 25;

/// The same of all extents of such an array, whose elements take so many bytes.
inline bool isGoodArray(llvm::StringRef array,
                        llvm::ArrayRef<std::int64_t> extents, unsigned bytes,
                        Span span, DiagnosticEngine &diagnostics) {
  std::int64_t all = bytes;
  for (std::int64_t extent : extents)
    if (llvm::MulOverflow(all, extent, all))
      all = std::numeric_limits<std::int64_t>::max();
  if (all > mostArrayBytes)
    diagnostics.report(span, diag::StorageBytes, array, all, mostArrayBytes);
  return all <= mostArrayBytes;
}

/// The same of the extents of a block, as far as they are known.
inline bool isGoodBlock(llvm::ArrayRef<std::optional<std::int64_t>> extents,
                        Span span, DiagnosticEngine &diagnostics) {
  constexpr std::int64_t most = 1024;
  std::uint64_t threads = 1;
  for (std::optional<std::int64_t> extent : extents) {
    if (extent && *extent < 1)
      diagnostics.report(span, diag::BlockThreads, *extent,
                         " along one dimension", most);
    if (extent && *extent < 1)
      return false;
    if (extent)
      threads = llvm::SaturatingMultiply<std::uint64_t>(threads, *extent);
  }
  if (threads > most)
    diagnostics.report(span, diag::BlockThreads, threads, "", most);
  return threads <= most;
}

} // namespace quern::typed
