// The intrinsics of NVPTX and AMDGPU behind one set of names.
#include "dsl/gpu/Device.h"
#include "dsl/KernelAbi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;

Value Device::call(Location loc, StringRef name, Type result,
                   ValueRange arguments) {
  auto text = builder.getStringAttr(name);
  if (result)
    return LLVM::CallIntrinsicOp::create(builder, loc, result, text, arguments)
        .getResult(0);
  LLVM::CallIntrinsicOp::create(builder, loc, text, arguments);
  return Value();
}

Value Device::number(Location loc, std::int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(value));
}

static constexpr StringLiteral dimensions[] = {"x", "y", "z"};

Value Device::threadNumber(Location loc, unsigned dimension) {
  StringRef stem =
      isNvptx() ? "llvm.nvvm.read.ptx.sreg.tid." : "llvm.amdgcn.workitem.id.";
  return call(loc, (stem + dimensions[dimension]).str(), builder.getI32Type(),
              {});
}

Value Device::blockNumber(Location loc, unsigned dimension) {
  StringRef stem = isNvptx() ? "llvm.nvvm.read.ptx.sreg.ctaid."
                             : "llvm.amdgcn.workgroup.id.";
  return call(loc, (stem + dimensions[dimension]).str(), builder.getI32Type(),
              {});
}

Value Device::fromHere(Location loc, Value number) {
  bool isShort = number.getType().isInteger(32);
  auto dialect =
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  return LLVM::InlineAsmOp::create(
             builder, loc, number.getType(), number,
             isShort ? "mov.b32 $0, $1;" : "mov.b64 $0, $1;",
             isShort ? "=r,r" : "=l,l", /*has_side_effects=*/true,
             /*is_align_stack=*/false, LLVM::TailCallKind::None, dialect,
             ArrayAttr())
      .getResult(0);
}

/// AMD's barrier orders nothing by itself: fences keep memory on its side.
void Device::barrier(Location loc) {
  if (isNvptx()) {
    call(loc, "llvm.nvvm.barrier.cta.sync.aligned.all", Type(), number(loc, 0));
    return;
  }
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::release,
                        "workgroup");
  call(loc, "llvm.amdgcn.s.barrier", Type(), {});
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acquire,
                        "workgroup");
}

void Device::arriveCluster(Location loc, bool isBehind) {
  call(loc,
       isBehind ? "llvm.nvvm.barrier.cluster.arrive.aligned"
                : "llvm.nvvm.barrier.cluster.arrive.relaxed.aligned",
       Type(), {});
}

void Device::showCluster(Location loc) {
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acq_rel, "cluster");
}

void Device::awaitCluster(Location loc) {
  call(loc, "llvm.nvvm.barrier.cluster.wait.aligned", Type(), {});
}

Value Device::inBlock(Location loc, Value at, Value block) {
  constexpr unsigned clusterSpace = 7;
  return call(loc, "llvm.nvvm.mapa.shared.cluster",
              LLVM::LLVMPointerType::get(builder.getContext(), clusterSpace),
              {at, block});
}

Value Device::inWords(Location loc, Value value,
                      llvm::function_ref<Value(Value)> one) {
  Type type = value.getType(), word = builder.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = builder.getIntegerType(bits);
  if (type != integer)
    value = arith::BitcastOp::create(builder, loc, integer, value);
  Value result;
  if (bits <= 32) {
    result =
        bits == 32 ? value : arith::ExtUIOp::create(builder, loc, word, value);
    result = one(result);
    if (bits < 32)
      result = arith::TruncIOp::create(builder, loc, integer, result);
  } else {
    assert(bits == 64 && "a state of more than 64 bits");
    Value half =
        arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32));
    Value low = arith::TruncIOp::create(builder, loc, word, value);
    Value high = arith::ShRUIOp::create(builder, loc, value, half);
    high = arith::TruncIOp::create(builder, loc, word, high);
    low = arith::ExtUIOp::create(builder, loc, integer, one(low));
    high = arith::ExtUIOp::create(builder, loc, integer, one(high));
    high = arith::ShLIOp::create(builder, loc, high, half);
    result = arith::OrIOp::create(builder, loc, low, high);
  }
  if (type != integer)
    result = arith::BitcastOp::create(builder, loc, type, result);
  return result;
}

Value Device::shuffleDown(Location loc, Value value, Value lane, unsigned by) {
  Type word = builder.getI32Type();
  if (isNvptx())
    return inWords(loc, value, [&](Value part) {
      Value arguments[] = {number(loc, -1), part, number(loc, by),
                           number(loc, 31)};
      return call(loc, "llvm.nvvm.shfl.sync.down.i32", word, arguments);
    });
  Value from = arith::AddIOp::create(builder, loc, lane, number(loc, by));
  from = arith::ShLIOp::create(builder, loc, from, number(loc, 2));
  return inWords(loc, value, [&](Value part) {
    return call(loc, "llvm.amdgcn.ds.bpermute", word, ValueRange{from, part});
  });
}

Value Device::fromFirst(Location loc, Value value) {
  Type word = builder.getI32Type();
  if (isNvptx())
    return inWords(loc, value, [&](Value part) {
      Value arguments[] = {number(loc, -1), part, number(loc, 0),
                           number(loc, 31)};
      return call(loc, "llvm.nvvm.shfl.sync.idx.i32", word, arguments);
    });
  return inWords(loc, value, [&](Value part) {
    return call(loc, "llvm.amdgcn.readfirstlane.i32", word, part);
  });
}

/// The words are the parameter itself, or a reference to where the driver has
/// put it; very many lie in memory that the caller has filled.
Block *Device::entry(Location loc, StringRef name, const EntryShape &shape,
                     std::size_t packetWords, std::size_t own) {
  using Dialect = LLVM::LLVMDialect;
  constexpr unsigned memory = 1, constants = 4;
  bool byValue = shape.isListed || packetWords <= mostWordsByValue;
  unsigned space = !byValue ? memory : isNvptx() ? 0 : constants;
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()),
      {LLVM::LLVMPointerType::get(builder.getContext(), space)});
  auto made = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  made.setCConv(isNvptx() ? LLVM::CConv::PTX_Kernel
                          : LLVM::CConv::AMDGPU_KERNEL);
  made.setPassthroughAttr(attributes(shape));
  auto words = LLVM::LLVMArrayType::get(
      builder.getI64Type(),
      unsigned(shape.isListed ? listWords : packetWords + own));
  if (byValue)
    made.setArgAttr(0,
                    isNvptx() ? Dialect::getByValAttrName()
                              : Dialect::getByRefAttrName(),
                    TypeAttr::get(words));
  else
    for (StringRef fact :
         {Dialect::getNoAliasAttrName(), Dialect::getReadonlyAttrName()})
      made.setArgAttr(0, fact, builder.getUnitAttr());
  made.setArgAttr(0, Dialect::getAlignAttrName(), builder.getI64IntegerAttr(8));
  return made.addEntryBlock(builder);
}

/// A kernel takes its packet and nothing of what the run time could add.
static constexpr StringLiteral unused[] = {
    "amdgpu-no-completion-action",  "amdgpu-no-default-queue",
    "amdgpu-no-dispatch-id",        "amdgpu-no-dispatch-ptr",
    "amdgpu-no-heap-ptr",           "amdgpu-no-hostcall-ptr",
    "amdgpu-no-implicitarg-ptr",    "amdgpu-no-lds-kernel-id",
    "amdgpu-no-multigrid-sync-arg", "amdgpu-no-queue-ptr"};
static constexpr StringLiteral unusedWhenFlat[] = {
    "amdgpu-no-workgroup-id-y", "amdgpu-no-workgroup-id-z",
    "amdgpu-no-workitem-id-y", "amdgpu-no-workitem-id-z"};

ArrayAttr Device::attributes(const EntryShape &shape) {
  const Block &block = shape.block;
  auto pair = [&](StringRef name, const Twine &value) -> Attribute {
    return builder.getArrayAttr(
        {builder.getStringAttr(name), builder.getStringAttr(value)});
  };
  bool isKnown = block[0] && block[1] && block[2];
  if (isNvptx()) {
    // Without a bound the assembler spills a few registers for the sake of more
    // blocks at a time.
    if (!isKnown)
      return builder.getArrayAttr(
          {pair("nvvm.maxntid", "1024"), pair("nvvm.maxnreg", "64")});
    std::string all = std::to_string(*block[0]);
    if (!shape.isFlat)
      for (unsigned dimension : {1, 2})
        all += "," + std::to_string(*block[dimension]);
    // Where a block takes all registers, the assembler spills two in some
    // kernels if the number of threads is exact, and none if it is the most.
    bool isMost = shape.isMost || shape.blocks == 0;
    SmallVector<Attribute> some{
        pair(isMost ? "nvvm.maxntid" : "nvvm.reqntid", all)};
    bool isLarge = *block[0] * *block[1] * *block[2] > 512;
    if (shape.cluster > 1)
      some.push_back(pair("nvvm.cluster_dim", std::to_string(shape.cluster)));
    if (shape.blocks > 1)
      some.push_back(pair("nvvm.minctasm", std::to_string(shape.blocks)));
    else if (shape.blocks == 1)
      some.push_back(
          pair("nvvm.maxnreg", isLarge || shape.isLight ? "64" : "128"));
    return builder.getArrayAttr(some);
  }
  std::string most =
      std::to_string(isKnown ? *block[0] * *block[1] * *block[2] : 1024);
  std::string least = !isKnown       ? "1"
                      : shape.isMost ? std::to_string(target.warp)
                                     : most;
  SmallVector<Attribute> all{
      pair("amdgpu-flat-work-group-size", least + "," + most),
      pair("uniform-work-group-size", "true")};
  for (StringRef name : unused)
    all.push_back(builder.getStringAttr(name));
  if (shape.isFlat)
    for (StringRef name : unusedWhenFlat)
      all.push_back(builder.getStringAttr(name));
  return builder.getArrayAttr(all);
}
