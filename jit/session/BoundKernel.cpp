// Bound kernels: filling the packet and running the launches.
#include "jit/pool/Pieces.h"
#include "jit/session/Guard.h"
#include "jit/session/HostSteps.h"
#include "jit/session/State.h"
#include "jit/session/Variants.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdlib>
#include <cstring>

using namespace quern;
using namespace quern::jit;

BoundKernel::BoundKernel() = default;
BoundKernel::~BoundKernel() = default;
BoundKernel::BoundKernel(BoundKernel &&) noexcept = default;
BoundKernel &BoundKernel::operator=(BoundKernel &&) noexcept = default;
BoundKernel::BoundKernel(const BoundKernel &) = default;
BoundKernel &BoundKernel::operator=(const BoundKernel &) = default;

std::span<const TensorSpec> BoundKernel::outputs() const {
  return state->binding.outputs;
}

std::span<const std::int64_t> BoundKernel::outputCounts() const {
  if (!state->plan)
    return state->resultCounts;
  return state->plan->resultCounts;
}

std::int64_t BoundKernel::workspaceBytes() const {
  const auto *prepared = state->prepared.load(std::memory_order_acquire);
  return prepared ? prepared->workspace(state->core->pool.threads()) : 0;
}

std::size_t BoundKernel::pointerCount() const { return state->external.size(); }

bool BoundKernel::isReusable() const {
  return !state->plan || !state->plan->hasRead;
}

DeviceId BoundKernel::device() const { return state->device; }

Result<std::monostate> BoundKernel::ready(std::stop_token stop) {
  return guarded([&]() -> Result<std::monostate> {
    if (state->plan)
      return state->plan->ready(stop);
    auto prepared = state->ready(stop);
    if (!prepared)
      return prepared.error();
    return std::monostate();
  });
}

bool BoundKernel::readyAtOnce() {
  auto ready = guarded([&]() -> Result<bool> {
    return state->plan ? state->plan->readyAtOnce() : state->prepareAtOnce();
  });
  return ready && *ready;
}

bool BoundKernel::mayCoincide(std::size_t written, std::size_t read) const {
  return llvm::any_of(state->pairs, [&](const State::Pair &pair) {
    return pair.written == written && pair.other == read && pair.mayCoincide;
  });
}

Result<std::vector<StageText>> BoundKernel::stages() const {
  return guarded([&]() -> Result<std::vector<StageText>> {
    std::vector<StageText> stages;
    if (state->plan)
      return stages;
    StageObserver observer = Compiler::collector(stages);
    observer.last = Stage::Asm;
    auto shown = state->core->compiler.compile(state->request, observer);
    if (!shown)
      return shown.error();
    return stages;
  });
}

using Prepared = BoundKernel::State::Prepared;

/// The words that do not change from run to run.
static std::vector<std::uint64_t> packetOf(const Binding &binding,
                                           const KernelAbi &abi) {
  std::vector<std::uint64_t> packet;
  for (const PacketWord &word : abi.words) {
    std::uint64_t value = 0;
    switch (word.kind) {
    case PacketWord::Kind::ErrorRecord:
    case PacketWord::Kind::Workspace:
      break;
    case PacketWord::Kind::Pointer: {
      const Operand &operand = binding.operands[word.operand];
      // A number is read from the binding itself.
      if (operand.isNumber)
        value = reinterpret_cast<std::uint64_t>(operand.bits);
      break;
    }
    case PacketWord::Kind::Extent:
      value = binding.extents[word.axis];
      break;
    case PacketWord::Kind::Stride:
      value = binding.strides[word.operand][word.axis];
      break;
    case PacketWord::Kind::Scalar:
      value = binding.scalars[word.operand];
      break;
    }
    packet.push_back(value);
  }
  return packet;
}

/// The word of every pointer that the caller gives.
static std::vector<int> slotsOf(const Binding &binding, const KernelAbi &abi) {
  std::vector<int> words(binding.operands.size(), -1), slots;
  for (auto [number, word] : llvm::enumerate(abi.words))
    if (word.kind == PacketWord::Kind::Pointer)
      words[word.operand] = static_cast<int>(number);
  for (auto [index, operand] : llvm::enumerate(binding.operands))
    if (operand.present && !operand.isNumber)
      slots.push_back(words[index]);
  return slots;
}

/// What runs; other code is not made.
Variant BoundKernel::State::variantOf(const KernelAbi &abi) const {
  std::vector<std::uint64_t> packet = packetOf(binding, abi);
  if (device != DeviceId{})
    return GridKernel::variantOf(abi, binding.extents, packet);
  Variant variant;
  for (const LaunchEntry &launch : abi.launches)
    variant.push_back(runs(launch, packet) ? 0 : leftOut);
  return variant;
}

void BoundKernel::State::keep(std::unique_ptr<Prepared> made) {
  const Prepared *none = nullptr;
  if (prepared.compare_exchange_strong(none, made.get()))
    made.release();
}

Result<std::monostate> BoundKernel::State::prepare(std::stop_token stop) {
  if (device != DeviceId{}) {
    auto made = std::make_unique<Prepared>();
    if (auto done = prepareOnDevice(*made, stop); !done)
      return done;
    keep(std::move(made));
    return std::monostate();
  }
  auto kernel = core->compiler.kernel(request, chooser(), stop);
  if (!kernel)
    return kernel.error();
  install(*kernel);
  return std::monostate();
}

bool BoundKernel::State::prepareAtOnce() {
  if (prepared.load(std::memory_order_acquire))
    return true;
  if (device != DeviceId{})
    return false;
  auto kernel = core->compiler.inMemory(request, chooser());
  if (kernel)
    install(std::move(kernel));
  return prepared.load(std::memory_order_acquire) != nullptr;
}

/// Whether the bytes of a workspace can be counted: some for each position.
static bool isCountable(const Binding &binding) {
  constexpr std::int64_t bytes = 128;
  std::int64_t product = bytes;
  return llvm::none_of(binding.extents, [&](std::int64_t extent) {
    return llvm::MulOverflow(product, std::max<std::int64_t>(extent, 1),
                             product);
  });
}

void BoundKernel::State::install(std::shared_ptr<const CompiledKernel> kernel) {
  auto made = std::make_unique<Prepared>();
  made->kernel = std::move(kernel);
  const KernelAbi &abi = made->kernel->abi;
  made->packet = packetOf(binding, abi);
  made->slots = slotsOf(binding, abi);
  bool isCounted = isCountable(binding);
  for (auto [launch, task] :
       llvm::zip_equal(abi.launches, made->kernel->tasks)) {
    if (!task)
      continue;
    std::vector<std::int64_t> plan = evaluate(launch.plan, made->packet);
    // What the steps have counted may have wrapped around.
    if (!isCounted && (plan[2] != 0 || plan[3] != 0))
      plan[2] = std::numeric_limits<std::int64_t>::max();
    made->launches.push_back(
        {task, plan[0], plan[1], plan[2], plan[3], plan[4]});
  }
  keep(std::move(made));
}

/// "a.qn: error[QN2034]: …", for errors that are found while running.
template <typename... Arguments, typename... Given>
static Error runError(SessionCore &core, Span span,
                      const DiagnosticKind<Arguments...> &kind,
                      const Given &...given) {
  DiagnosticEngine diagnostics;
  diagnostics.report(span, kind, given...);
  std::lock_guard lock(core.frontend);
  return toError(diagnostics, core.sources);
}

Error BoundKernel::State::apartError(const Pair &pair) const {
  const Operand &written = binding.operands[external[pair.written]];
  const Operand &other = binding.operands[external[pair.other]];
  return runError(*core, written.span, fault::Overlap, written.name,
                  other.name);
}

namespace {

/// Words of a run; on the stack unless there are very many.
class Packet {
public:
  explicit Packet(const std::vector<std::uint64_t> &words) {
    if (words.size() > std::size(fixed)) {
      large = words;
      data = large.data();
      return;
    }
    std::memcpy(fixed, words.data(), words.size() * sizeof(std::uint64_t));
  }
  std::uint64_t *data = fixed;

private:
  std::uint64_t fixed[64];
  std::vector<std::uint64_t> large;
};

/// Whether a pair's memory is apart or allowed to coincide.
bool isLegal(const BoundKernel::State::Pair &pair, const Binding &binding,
             const std::vector<unsigned> &external,
             std::span<void *const> pointers) {
  std::int64_t distance =
      reinterpret_cast<std::intptr_t>(pointers[pair.other]) -
      reinterpret_cast<std::intptr_t>(pointers[pair.written]);
  if (pair.writtenRange.high <= distance + pair.otherRange.low ||
      distance + pair.otherRange.high <= pair.writtenRange.low)
    return true;
  if (distance == 0 && pair.mayCoincide)
    return true;
  return !overlaps(binding.operands[external[pair.written]],
                   binding.operands[external[pair.other]], distance);
}

} // namespace

std::optional<Error>
BoundKernel::State::check(std::span<void *const> pointers) const {
  if (pointers.size() != external.size())
    return runError(*core, {}, fault::PointerCount, name, external.size(),
                    pointers.size());
  for (std::size_t number = 0; number < pointers.size(); ++number)
    if (!pointers[number] && touches[number]) {
      const Operand &operand = binding.operands[external[number]];
      return runError(*core, operand.span, fault::NullPointer, operand.name);
    }
  for (const Pair &pair : pairs)
    if (!isLegal(pair, binding, external, pointers))
      return apartError(pair);
  return std::nullopt;
}

/// Where a site's "a.qn:3:12-17" lies in the texts that were loaded; empty
/// where it names another one.
static Span spanOf(const BoundKernel::State &state, llvm::StringRef location) {
  auto [rest, columnText] = location.rsplit(':');
  auto [path, lineText] = rest.rsplit(':');
  auto [beginText, endText] = columnText.split('-');
  unsigned line = 0, begin = 0, end = 0;
  if (lineText.getAsInteger(10, line) || beginText.getAsInteger(10, begin))
    return Span();
  const SourceFile *file = fileNamed(*state.request.module, path);
  if (!file)
    return Span();
  const SourceManager &sources = state.core->sources;
  Span span = sources.spanAt(*file, line, begin);
  bool hasEnd = span.valid() && !endText.getAsInteger(10, end) && end > begin &&
                end - 1 <= sources.lineText(*file, line).size();
  if (hasEnd)
    span.end = span.begin + (end - begin);
  return span;
}

/// A checked index was out of range, or what the text asks does not hold.
static Error siteError(const BoundKernel::State &state,
                       const Prepared &prepared, const ErrorRecord &record) {
  const std::vector<ErrorSite> &sites = prepared.kernel->abi.sites;
  std::size_t index = static_cast<std::size_t>(record.site) - 1;
  ErrorSite site = index < sites.size() ? sites[index] : ErrorSite{};
  Span span = spanOf(state, site.location);
  Error error = [&] {
    switch (site.kind) {
    case ErrorSite::Kind::Barrier:
      return runError(*state.core, span, fault::BarrierDivided, state.name);
    case ErrorSite::Kind::Threads:
      if (record.extent == mostBlocks)
        return runError(*state.core, span, fault::GridTooLarge, state.name,
                        record.extent);
      if (record.index < record.extent)
        return runError(*state.core, span, fault::LaunchTooSmall, state.name,
                        record.extent ? "a block has" : "the grid has",
                        record.index, record.extent ? "threads" : "blocks",
                        record.extent);
      return runError(*state.core, span, fault::BlockTooLarge, state.name,
                      record.index, record.extent);
    case ErrorSite::Kind::Required:
      return runError(*state.core, span, fault::Required, state.name,
                      site.axis);
    case ErrorSite::Kind::Index:
    case ErrorSite::Kind::Unsigned:
      break;
    }
    bool isUnsigned = site.kind == ErrorSite::Kind::Unsigned;
    std::string index =
        isUnsigned ? llvm::utostr(static_cast<std::uint64_t>(record.index))
                   : llvm::itostr(record.index);
    return runError(*state.core, span, fault::IndexOutOfRange, state.name,
                    index, site.axis, record.extent);
  }();
  if (!site.location.empty() && !span.valid())
    error.message = llvm::StringRef(site.location).rsplit('-').first.str() +
                    ": " + error.message;
  return error;
}

Result<std::monostate>
BoundKernel::State::prepareOnDevice(Prepared &made, std::stop_token stop) {
  auto owner = core->devices.get(device);
  if (!owner)
    return owner.error();
  auto kernel = (*owner)->compiler.kernel(request, chooser(), stop);
  if (!kernel)
    return kernel.error();
  made.kernel = *kernel;
  made.packet = packetOf(binding, made.kernel->abi);
  made.slots = slotsOf(binding, made.kernel->abi);
  std::vector<GridKernel::Number> numbers;
  for (auto [word, entry] : llvm::enumerate(made.kernel->abi.words))
    if (const Operand &operand = binding.operands[entry.operand];
        entry.kind == PacketWord::Kind::Pointer && operand.isNumber)
      numbers.push_back({word, {operand.bits[0], operand.bits[1]}});
  auto grid = GridKernel::make(*owner, *kernel, binding, made.packet, numbers);
  if (!grid)
    return grid.error();
  made.grid = std::move(*grid);
  made.gridWorkspace = static_cast<std::int64_t>(made.grid->workspaceBytes());
  return std::monostate();
}

Result<const Prepared *> BoundKernel::State::ready(std::stop_token stop) {
  if (const Prepared *made = prepared.load(std::memory_order_acquire))
    return made;
  if (auto made = prepare(stop); !made)
    return made.error();
  return prepared.load(std::memory_order_acquire);
}

GridKernel::Call
BoundKernel::State::callOf(std::span<void *const> pointers) const {
  const Prepared &made = *prepared.load(std::memory_order_acquire);
  GridKernel::Call call{made.grid.get(), {}};
  for (std::size_t number = 0; number < pointers.size(); ++number)
    if (made.slots[number] >= 0)
      call.pointers.push_back(
          {static_cast<std::size_t>(made.slots[number]),
           reinterpret_cast<std::uint64_t>(pointers[number])});
  return call;
}

Result<std::monostate>
BoundKernel::State::launch(std::span<const GridKernel::Call> calls,
                           void *stream) {
  auto record = GridKernel::run(calls, stream);
  if (!record)
    return record.error();
  if (record->site != 0)
    return siteError(*this, *prepared.load(), *record);
  core->launches.fetch_add(1, std::memory_order_relaxed);
  return std::monostate();
}

Result<std::monostate> BoundKernel::State::work(const Prepared::Launch &launch,
                                                const void *packet,
                                                ErrorRecord &record,
                                                int threads) {
  Pieces pieces(launch.task, packet, launch.unasked, record.site,
                core->waiter.get());
  core->pool.run(Pieces::run, &pieces, launch.units, launch.grain, threads,
                 Pieces::beat);
  if (record.site != 0)
    return siteError(*this, *prepared.load(), record);
  if (pieces.isEnded())
    return Error{"interrupted", {}};
  return std::monostate();
}

Result<std::monostate> BoundKernel::run(std::span<void *const> pointers,
                                        void *stream) {
  return guarded([&]() -> Result<std::monostate> {
    State &bound = *state;
    if (auto problem = bound.check(pointers))
      return std::move(*problem);
    if (bound.plan)
      return bound.plan->run(pointers, bound.core->pool, stream);
    auto made = bound.ready();
    if (!made)
      return made.error();
    const Prepared *prepared = *made;
    if (bound.binding.isEmpty)
      return std::monostate();
    if (prepared->grid) {
      GridKernel::Call call = bound.callOf(pointers);
      return bound.launch({&call, 1}, stream);
    }
    Packet packet(prepared->packet);
    ErrorRecord record;
    packet.data[0] = reinterpret_cast<std::uint64_t>(&record);
    int threads = bound.core->pool.threads();
    std::int64_t bytes = prepared->workspace(threads);
    Scratch::Piece workspace(bound.core->pool.scratch(), bytes);
    if (bytes > 0 && !workspace.memory)
      return runError(*bound.core, {}, fault::WorkspaceMemory, bound.name,
                      bytes);
    packet.data[1] = reinterpret_cast<std::uint64_t>(workspace.memory);
    for (std::size_t number = 0; number < pointers.size(); ++number)
      if (prepared->slots[number] >= 0)
        packet.data[prepared->slots[number]] =
            reinterpret_cast<std::uint64_t>(pointers[number]);
    for (const Prepared::Launch &launch : prepared->launches)
      if (auto done = bound.work(launch, packet.data, record, threads); !done)
        return done;
    bound.core->launches.fetch_add(1, std::memory_order_relaxed);
    return std::monostate();
  });
}
