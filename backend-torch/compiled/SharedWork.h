// Work on several threads, while the calling one listens to its user.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

namespace quern {

/// Told several times a second how many pieces are done, and of how many, by
/// the calling thread. What it throws stops the work and reaches the caller.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

/// One piece, by its number; it ends soon once a stop is requested.
using Piece = std::function<void(std::size_t number, std::stop_token stop)>;

/// Does every piece, several at a time. It returns when all threads have ended,
/// and rethrows the first exception of a piece.
void forEach(std::size_t count, const Progress &progress, const Piece &piece);

} // namespace quern
