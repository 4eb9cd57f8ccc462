// The smallest free piece that fits, in segments from the system.
#include "backend-torch/run/Memory.h"
#include "backend-torch/run/Raise.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>

#include <algorithm>
#include <sys/mman.h>

namespace quern {

static constexpr std::size_t SegmentSize = 1 << 30, Page = 2 << 20;
/// Calls that a segment is kept for without use.
static constexpr std::int64_t Patience = 64;

static std::size_t roundUp(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

/// What a tensor's storage holds on to.
struct Memory::Lease {
  std::shared_ptr<Memory> owner;
  char *start;
  std::size_t size, bytes;
  /// A tensor that goes cannot fail: what its memory is noted in when it comes
  /// back was allocated with it.
  Free::node_type piece;

  static Free::node_type makePiece() {
    Free one;
    one.emplace(nullptr, 0);
    return one.extract(one.begin());
  }
  static void end(void *context) {
    std::unique_ptr<Lease> lease(static_cast<Lease *>(context));
    Memory &memory = *lease->owner;
    lease->piece.key() = lease->start;
    lease->piece.mapped() = lease->size;
    memory.giveBack(std::move(lease->piece));
    memory.tellProfiler(lease->start, -static_cast<std::int64_t>(lease->bytes));
  }
};

Memory::~Memory() {
  for (const auto &[base, segment] : segments)
    munmap(base, segment.size);
}

/// A fresh segment at an address that huge pages can be mapped to. Of one that
/// is for many tensors most may never be used; of more the system is to say
/// whether it has so much, as it says to ATen's allocator.
static char *mapSegment(std::size_t size) {
  int reserve = size <= SegmentSize ? MAP_NORESERVE : 0;
  void *found = mmap(nullptr, size + Page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | reserve, -1, 0);
  if (found == MAP_FAILED)
    return nullptr;
  auto *start = static_cast<char *>(found);
  std::size_t before =
      (Page - reinterpret_cast<std::uintptr_t>(start) % Page) % Page;
  if (before != 0)
    munmap(start, before);
  munmap(start + before + size, Page - before);
  // Where the system has none, small pages serve as well.
  madvise(start + before, size, MADV_HUGEPAGE);
  return start + before;
}

namespace {
/// Goes back unless it is kept.
struct Mapping {
  ~Mapping() {
    if (base)
      munmap(base, size);
  }
  char *base;
  std::size_t size;
};
} // namespace

/// From now on memory up to `end` may be taken, and none behind it.
void Memory::touch(Segment &segment, char *end) {
  now.mapped += end - segment.touched;
  segment.touched = end;
}

/// Allocates nothing.
char *Memory::takeFrom(Segment &segment, Free::iterator found,
                       std::size_t size) {
  Free::node_type piece = segment.free.extract(found);
  char *start = piece.key();
  if (piece.mapped() != size) {
    piece.key() += size;
    piece.mapped() -= size;
    segment.free.insert(std::move(piece));
  }
  now.inUse += static_cast<std::int64_t>(size);
  now.peak = std::max(now.peak, now.inUse);
  segment.used += size;
  segment.lastUse = call;
  segment.top = std::max(segment.top, start + size);
  touch(segment, std::max(segment.touched, segment.top));
  return start;
}

char *Memory::take(std::size_t size) {
  std::lock_guard lock(mutex);
  Segment *best = nullptr;
  Free::iterator piece;
  for (auto &[base, segment] : segments)
    for (auto it = segment.free.begin(); it != segment.free.end(); ++it)
      if (it->second >= size && (!best || it->second < piece->second)) {
        best = &segment;
        piece = it;
      }
  if (best)
    return takeFrom(*best, piece, size);
  std::size_t least = roundUp(size, Page), whole = std::max(SegmentSize, least);
  char *base = mapSegment(whole);
  if (!base) // the process may be allowed no more
    base = mapSegment(whole = least);
  if (!base)
    return nullptr;
  Mapping mapping{base, whole};
  Segment fresh{.size = whole, .top = base, .touched = base};
  fresh.free.emplace(base, whole);
  Segment &segment = segments.emplace(base, std::move(fresh)).first->second;
  mapping.base = nullptr;
  return takeFrom(segment, segment.free.begin(), size);
}

void Memory::giveBack(Free::node_type piece) {
  std::lock_guard lock(mutex);
  char *start = piece.key();
  std::size_t &size = piece.mapped();
  now.inUse -= static_cast<std::int64_t>(size);
  Segment &segment = std::prev(segments.upper_bound(start))->second;
  segment.used -= size;
  auto next = segment.free.lower_bound(start);
  if (next != segment.free.end() && start + size == next->first) {
    size += next->second;
    next = segment.free.erase(next);
  }
  if (next != segment.free.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == start) {
      before->second += size;
      return;
    }
  }
  segment.free.insert(next, std::move(piece));
}

void Memory::tellProfiler(void *start, std::int64_t bytes) const {
  if (!c10::memoryProfilingEnabled())
    return;
  MemoryUsage current = usage();
  c10::reportMemoryUsageToProfiler(
      start, bytes, static_cast<std::size_t>(current.inUse),
      static_cast<std::size_t>(current.mapped), c10::kCPU);
}

c10::DataPtr Memory::allocate(std::size_t bytes) {
  // An odd number of cache lines more, so that tensors of equal size do not all
  // begin at the same place of a page.
  std::size_t size = roundUp(bytes, 64) + 192;
  auto lease = std::make_unique<Lease>(
      Lease{shared_from_this(), nullptr, size, bytes, Lease::makePiece()});
  char *start = lease->start = take(size);
  if (!start)
    return c10::GetAllocator(c10::kCPU)->allocate(bytes);
  c10::DataPtr data(start, lease.release(), &Lease::end, c10::kCPU);
  tellProfiler(start, static_cast<std::int64_t>(bytes));
  return data;
}

bool Memory::isAlone(const at::Tensor &tensor) {
  const c10::Storage &storage = tensor.storage();
  return tensor.use_count() == 1 && storage.use_count() == 1 &&
         storage.data_ptr().get_deleter() == &Lease::end;
}

MemoryUsage Memory::usage() const {
  std::lock_guard lock(mutex);
  return now;
}

void Memory::unmapUnused(std::int64_t before) {
  std::erase_if(segments, [&](const auto &entry) {
    const auto &[base, segment] = entry;
    if (segment.used != 0 || segment.lastUse >= before)
      return false;
    munmap(base, segment.size);
    now.mapped -= segment.touched - base;
    return true;
  });
}

/// What lies behind all that was given out since this was done last.
void Memory::giveBackEnds() {
  for (auto &[base, segment] : segments) {
    char *end = base + segment.size;
    if (!segment.free.empty()) {
      auto [start, size] = *std::prev(segment.free.end());
      end = start + size == end ? start : end;
    }
    char *needed = base + roundUp(std::max(segment.top, end) - base, Page);
    if (segment.touched > needed) {
      madvise(needed, segment.touched - needed, MADV_DONTNEED);
      touch(segment, needed);
    }
    segment.top = end;
  }
}

void Memory::endCall() {
  std::int64_t now = ++call;
  if (now % Patience != 0)
    return;
  std::lock_guard lock(mutex);
  unmapUnused(now - Patience);
  giveBackEnds();
}

void Memory::trim() {
  std::lock_guard lock(mutex);
  unmapUnused(call + 1);
  for (auto &[base, segment] : segments)
    segment.top = base;
  giveBackEnds();
}

std::size_t storageBytes(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                         c10::ScalarType type) {
  std::size_t last = 0; // the element with the highest address
  for (std::size_t axis = 0; axis != sizes.size(); ++axis) {
    if (sizes[axis] == 0)
      return 0;
    std::size_t reach = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(sizes[axis] - 1),
                               static_cast<std::size_t>(strides[axis]),
                               &reach) ||
        __builtin_add_overflow(last, reach, &last))
      raise("a tensor would take more bytes than there are addresses");
  }
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(last + 1, c10::elementSize(type), &bytes))
    raise("a tensor would take more bytes than there are addresses");
  return bytes;
}

at::Tensor emptyTensor(Memory &memory, c10::IntArrayRef sizes,
                       c10::IntArrayRef strides, c10::ScalarType type,
                       std::size_t bytes) {
  c10::Allocator *others = c10::GetAllocator(c10::kCPU);
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes,
      bytes < Memory::Least ? others->allocate(bytes) : memory.allocate(bytes),
      others, true);
  return tensorIn(std::move(storage), sizes, strides, type);
}

at::Tensor tensorIn(c10::Storage storage, c10::IntArrayRef sizes,
                    c10::IntArrayRef strides, c10::ScalarType type) {
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
      c10::scalarTypeToTypeMeta(type));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return tensor;
}

} // namespace quern
