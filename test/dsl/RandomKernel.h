// Random kernels with branches, loops and indices near the ends of numbers.
#pragma once

#include "dsl/dialect/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <random>

namespace quern {

class Random {
public:
  explicit Random(std::uint64_t seed) : engine(seed) {}
  unsigned below(unsigned count) { return engine() % count; }
  bool once(unsigned in) { return below(in) == 0; }

  /// Near the ends of the width, near 0, or anywhere.
  std::int64_t number(unsigned bits) {
    std::int64_t little = std::int64_t(below(9)) - 4;
    llvm::APInt base = once(2)   ? llvm::APInt(bits, 0)
                       : once(3) ? llvm::APInt::getSignedMaxValue(bits)
                       : once(2) ? llvm::APInt::getSignedMinValue(bits)
                       : once(2) ? llvm::APInt::getOneBitSet(bits, below(bits))
                                 : llvm::APInt(64, engine()).trunc(bits);
    return (base + llvm::APInt(bits, little, true)).getSExtValue();
  }

private:
  std::mt19937_64 engine;
};

/// A random kernel over two axes.
class KernelMaker {
public:
  KernelMaker(mlir::MLIRContext &context, std::uint64_t seed);
  void statements(unsigned depth);

  Random random;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  qn::KernelOp kernel;

private:
  using Values = llvm::SmallVector<mlir::Value>;
  mlir::Value constant(std::int64_t value, unsigned bits) {
    return mlir::arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(b.getIntegerType(bits), value));
  }
  mlir::Value some(unsigned bits);
  mlir::Value made(unsigned bits);
  mlir::Value arithmetic(unsigned bits);
  mlir::Value resized(unsigned bits);
  mlir::Value divided(unsigned bits);
  mlir::Value condition();
  mlir::Value near(mlir::Value value);
  mlir::Value guard(mlir::Value index);
  mlir::Value limit();
  void read();
  void branch(unsigned depth);
  void loop(unsigned depth);

  mlir::OpBuilder b;
  mlir::Location loc;
  Values pool;
  mlir::Value array;
  mlir::Value guarded; ///< what a condition around compares; or null
};

} // namespace quern
