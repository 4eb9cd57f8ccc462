// The passes of the compiler.
#ifndef QUERN_DSL_PASSES_PASSES_TD
#define QUERN_DSL_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def QnCarryNan : Pass<"qn-carry-nan", "::mlir::ModuleOp"> {
  let summary = "Splits a maximum or minimum into one that ignores NaN and a NaN";
  let description = [{
    A maximum that carries NaN takes six dependent instructions on x86. Where the
    order is free, the largest number and the last NaN are found side by side, two
    instructions each, and chosen from at the end. A portable one becomes one of
    integers in the order of the floats: it gives the same bits in any order.
  }];
}

def QnCoarsen : Pass<"qn-coarsen", "::mlir::ModuleOp"> {
  let summary = "Computes on GPUs no better than what is kept of it";
  let description = [{
    A quotient of `f32` that IEEE rounds takes a GPU ten instructions and a branch.
    Where all that becomes of a value are floats of 16 bits, by arithmetic that
    carries small errors on, divisions and roots may be two units of the last place
    off, and a function of the prelude may offer a shorter form.
  }];
}

def QnCompact : Pass<"qn-compact", "::mlir::ModuleOp"> {
  let summary = "Makes writes at counted places ones without places";
  let description = [{
    A scatter that writes where a condition holds, at the number of positions
    before it where it held, writes in order and without gaps: blocks that know
    how many stand before them write apart from each other.
  }];
}

def QnKeepOld : Pass<"qn-keep-old", "::mlir::ModuleOp"> {
  let summary = "Copies operands whose old elements are read beside writes";
  let description = [{
    A read of a stored operand gives the old element. Where loops would write it
    first (reads at computed positions, of whole columns, in a later launch), the
    operand is copied to the workspace and read there.
  }];
}

def QnMoveWhole : Pass<"qn-move-whole", "::mlir::ModuleOp"> {
  let summary = "Makes complex elements that are only moved words of 64 bits";
  let description = [{
    Halves that are read, chosen and stored together need not be parted: as words
    they are copied by whole vectors, and turned in registers where they lie across
    the lanes. A kernel that computes with any of its complex elements stays.
  }];
}

def QnNarrowDivisions : Pass<"qn-narrow-divisions", "::mlir::ModuleOp"> {
  let summary = "Makes divisions in kernels of 32 bits where extents allow it";
  let description = [{
    A GPU divides 64 bits in a hundred instructions. Where no extent needs more than
    31 bits, and the dividend is natural and below one, half of them do, and what
    makes quotients floor, or keeps them from overflowing, is not needed.
  }];
}

def QnStageRepeated : Pass<"qn-stage-repeated", "::mlir::ModuleOp"> {
  let summary = "Stores reductions that loops within loops would make again"
                " and again";
  let description = [{
    Sums of columns of what sums of rows have divided, and so on: made on demand,
    each of them would be made anew for every element of those behind it. Schedules
    know what to do where this happens once; where it happens within itself, as few
    reductions as end it become launches that leave their results in the workspace.
  }];
}

def QnStageDear : Pass<"qn-stage-dear", "::mlir::ModuleOp"> {
  let summary = "Stores dear values that every row would make again";
  let description = [{
    A channel's scale, one over a root, lies along the lanes of images whose
    channels are neighbours: each pixel would make it anew, whole vectors of it.
    What has the lanes and not every row becomes a launch of its own before,
    where it is small beside the rows.
  }];
}

def QnStageAcross : Pass<"qn-stage-across", "::mlir::ModuleOp"> {
  let summary = "Copies small operands that lanes would gather for every row";
  let description = [{
    The weights of a depthwise convolution have their windows side by side, and its
    lanes run along the channels of an image: each row of windows would gather them.
    A launch before copies them, channels last, where they are small beside the rows.
  }];
}

def QnSchedule : Pass<"qn-schedule", "::mlir::ModuleOp"> {
  let summary = "Chooses how kernels run on a target";
  let description = [{
    It adds a `qn.schedule` at the end of a kernel: the launches, how each cuts its
    axes, which axis has lanes, what is packed and kept. `qn-to-loops` follows it.
  }];
  let options = [Option<"targetName", "target", "std::string",
                        "\"x86-64-v4\"", "A row of the table of targets">];
}

def QnToLoops : Pass<"qn-to-loops", "::mlir::ModuleOp"> {
  let summary = "Makes loops of kernels by their schedules";
  let options = [Option<"targetName", "target", "std::string",
                        "\"x86-64-v4\"", "A row of the table of targets">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def LoopsToLlvm : Pass<"loops-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Converts loops, vectors and arithmetic to the LLVM dialect";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::cf::ControlFlowDialect"];
}

#endif
