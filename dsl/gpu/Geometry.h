// What the host computes to launch an explicit kernel.
#pragma once

#include "dsl/KernelAbi.h"
#include "dsl/lower/Packet.h"

namespace quern {

/// Turns pure operations on sizes and scalar arguments into host steps.
class GeometryBuilder {
public:
  GeometryBuilder(qn::KernelOp kernel, const Packet &packet)
      : kernel(kernel), packet(packet) {}

  /// The six operands of the launch; nothing after a diagnostic.
  std::optional<GridGeometry> build();

private:
  using Kind = HostStep::Kind;
  std::optional<std::uint32_t> stepOf(mlir::Value value);
  std::optional<std::uint32_t> make(mlir::Operation *op);
  std::uint32_t add(Kind kind, llvm::ArrayRef<std::uint32_t> operands,
                    std::int64_t value = 0);
  std::uint32_t signedFrom(std::uint32_t step, unsigned width);
  std::optional<std::uint32_t> divided(mlir::Operation *op, std::uint32_t a,
                                       std::uint32_t b);
  std::uint32_t compared(mlir::Operation *op, std::uint32_t a, std::uint32_t b);

  qn::KernelOp kernel;
  const Packet &packet;
  GridGeometry made;
  llvm::DenseMap<mlir::Value, std::uint32_t> steps;
};

} // namespace quern
