// Matrix instructions of NVIDIA (mma) and AMD (mfma, wmma).
#include "dsl/gpu/Device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;

/// Of AMD's: warps of 64 have mfma; of the others, the twelfth generation's
/// lanes hold half of a line each, those of the eleventh all of it, twice.
static bool isHalved(const TargetInfo &target) {
  return llvm::StringRef(target.cpu).starts_with("gfx12");
}

bool quern::hasMatrices(const TargetInfo &target, Type factor) {
  if (factor.isF16() || factor.isBF16())
    return target.isGpu();
  return factor.isF64() &&
         (target.kind == TargetKind::Nvptx || target.warp == 64);
}

/// Of f64 an instruction is four deep: a lane holds the factors of two of them,
/// neighbours, so that it reads sixteen bytes at once.
static constexpr unsigned doubleRun = 2, doubleDepth = 8;

/// AMD's sums of f64: rows of a lane are four apart.
static void spreadDoubles(MatrixLayout &made) {
  made.depth = doubleDepth;
  made.run = doubleRun;
  made.rowStep = 1;
  made.left = made.right = {{0, 0}};
  for (unsigned sum = 0; sum < 4; ++sum)
    made.sums.push_back({4 * sum, 0});
}

MatrixLayout quern::matrixLayout(const TargetInfo &target, Type sum) {
  bool isDouble = sum.isF64() && hasMatrices(target, sum);
  MatrixLayout made;
  made.sum = sum;
  if (target.kind == TargetKind::Nvptx) {
    made.run = 2;
    made.lanesAcross = 4;
    made.columnStep = 2;
    made.left = {{0, 0}, {8, 0}, {0, 8}, {8, 8}};
    made.right = {{0, 0}, {0, 8}, {8, 0}, {8, 8}};
    if (isDouble) {
      made.depth = doubleDepth;
      made.left = made.right = {{0, 0}, {8, 0}};
    }
    for (unsigned column : {0, 8})
      for (unsigned row : {0, 8})
        for (unsigned next : {0, 1})
          made.sums.push_back({row, column + next});
    return made;
  }
  bool isWide = target.warp == 64;
  made.isVector = true;
  if (isDouble) {
    spreadDoubles(made);
    return made;
  }
  made.run = isWide ? 4 : isHalved(target) ? 8 : 16;
  made.rowStep = isWide ? 4 : isHalved(target) ? 8 : 1;
  made.left = made.right = {{0, 0}};
  for (unsigned sum = 0; sum < (isWide ? 4 : 8); ++sum)
    made.sums.push_back({isWide || isHalved(target) ? sum : 2 * sum, 0});
  return made;
}

MatrixLane Device::matrixLane(Location loc, Value lane,
                              const MatrixLayout &layout) {
  auto by = [&](auto op, Value value, std::int64_t other) -> Value {
    return decltype(op)::create(builder, loc, value, number(loc, other));
  };
  MatrixLane made;
  Value part = by(arith::DivUIOp(), lane, layout.lanesAcross);
  Value within = by(arith::RemUIOp(), lane, layout.lanesAcross);
  made.row = by(arith::MulIOp(), part, layout.rowStep);
  made.column = by(arith::MulIOp(), within, layout.columnStep);
  made.line = isNvptx() ? part : within;
  bool isWhole = layout.run == matrixSize; // in every part of the warp
  made.depth = isNvptx() ? made.column
               : isWhole ? number(loc, 0)
                         : by(arith::MulIOp(), part, layout.run);
  return made;
}

SmallVector<Value> Device::noSums(Location loc, const MatrixLayout &layout) {
  Type type = layout.sum;
  if (layout.isVector)
    type = VectorType::get({std::int64_t(layout.sums.size())}, type);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return SmallVector<Value>(layout.sumValues(), zero);
}

Value Device::sumAt(Location loc, ValueRange sums, unsigned place) {
  if (sums.size() > 1)
    return sums[place];
  return vector::ExtractOp::create(builder, loc, sums.front(), place);
}

/// The same bits in another shape, as an instruction wants them.
static Value recast(OpBuilder &b, Location loc, Value vector, Type type) {
  auto wanted = dyn_cast<VectorType>(type);
  if (wanted)
    return wanted == vector.getType()
               ? vector
               : Value(vector::BitCastOp::create(b, loc, wanted, vector));
  Value one =
      vector::BitCastOp::create(b, loc, VectorType::get({1}, type), vector);
  return vector::ExtractOp::create(b, loc, one, 0);
}

/// Two products of 16 by 8, side by side.
void Device::multiplyNvidia(Location loc, ValueRange left, ValueRange right,
                            MutableArrayRef<Value> sums) {
  Type type = left.front().getType();
  bool isHalf = cast<VectorType>(type).getElementType().isF16();
  Type word = isHalf ? type : Type(builder.getI32Type());
  SmallVector<Type> parts(4, builder.getF32Type());
  auto result = LLVM::LLVMStructType::getLiteral(builder.getContext(), parts);
  for (unsigned half : {0, 1}) {
    SmallVector<Value> arguments;
    for (Value piece : left)
      arguments.push_back(recast(builder, loc, piece, word));
    for (Value piece : right.slice(2 * half, 2))
      arguments.push_back(recast(builder, loc, piece, word));
    auto into = sums.slice(4 * half, 4);
    llvm::append_range(arguments, into);
    Value made = call(loc,
                      isHalf ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
                             : "llvm.nvvm.mma.m16n8k16.row.col.bf16",
                      result, arguments);
    for (auto [number, sum] : llvm::enumerate(into))
      sum = LLVM::ExtractValueOp::create(
          builder, loc, made, ArrayRef<int64_t>{static_cast<int64_t>(number)});
  }
}

/// Both halves of the depth; of NVIDIA's, eight rows by eight columns at a
/// time.
void Device::multiplyDoubles(Location loc, ValueRange left, ValueRange right,
                             MutableArrayRef<Value> sums) {
  Type type = builder.getF64Type();
  auto at = [&](Value piece, unsigned half) -> Value {
    return vector::ExtractOp::create(builder, loc, piece, half);
  };
  if (!isNvptx()) {
    for (unsigned half = 0; half < doubleRun; ++half) {
      SmallVector<Value> arguments{at(left.front(), half),
                                   at(right.front(), half), sums.front()};
      arguments.append(3, number(loc, 0));
      sums.front() = call(loc, "llvm.amdgcn.mfma.f64.16x16x4f64",
                          sums.front().getType(), arguments);
    }
    return;
  }
  auto pair =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), {type, type});
  for (unsigned half = 0; half < doubleRun; ++half)
    for (unsigned part = 0; part < 4; ++part) {
      auto into = sums.slice(2 * part, 2);
      Value made = call(loc, "llvm.nvvm.mma.m8n8k4.row.col.f64", pair,
                        {at(left[part % 2], half), at(right[part / 2], half),
                         into[0], into[1]});
      for (std::int64_t place : {0, 1})
        into[place] = LLVM::ExtractValueOp::create(builder, loc, made, place);
    }
}

void Device::multiply(Location loc, ValueRange left, ValueRange right,
                      MutableArrayRef<Value> sums) {
  auto type = cast<VectorType>(left.front().getType());
  if (type.getElementType().isF64())
    return multiplyDoubles(loc, left, right, sums);
  if (isNvptx())
    return multiplyNvidia(loc, left, right, sums);
  bool isHalf = type.getElementType().isF16();
  Type factor =
      isHalf ? type
             : VectorType::get(type.getShape(), builder.getIntegerType(16));
  SmallVector<Value> arguments{recast(builder, loc, left.front(), factor),
                               recast(builder, loc, right.front(), factor),
                               sums.front()};
  std::string name;
  if (target.warp == 64) {
    name = isHalf ? "llvm.amdgcn.mfma.f32.16x16x16f16"
                  : "llvm.amdgcn.mfma.f32.16x16x16bf16.1k";
    arguments.append(3, number(loc, 0));
  } else {
    name = isHalf ? "llvm.amdgcn.wmma.f32.16x16x16.f16"
                  : "llvm.amdgcn.wmma.f32.16x16x16.bf16";
  }
  sums.front() = call(loc, name, sums.front().getType(), arguments);
}
