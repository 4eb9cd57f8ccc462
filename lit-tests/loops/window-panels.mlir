// A product with a window packs it with the summed axis that bounds nothing
// innermost, whose elements lie far apart and are fetched early. The other
// factor's panels follow the same order.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @conv_1_task
// Taps of the window are walked first, then lanes along places, then channels.
// CHECK: scf.while
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.prefetch
// CHECK: llvm.store
qn.rowwise @conv axes [C, H, O, I, P] (%x: !qn.tensor<f32, [C, H:1]>,
    %w: !qn.tensor<f32, [O, C, I:1]>, %out: !qn.tensor<f32, [O, P:1]>) {
  %zero = arith.constant 0.0 : f32
  %p = qn.index P
  %i = qn.index I
  %c = qn.index C
  %at = arith.addi %p, %i : i64
  %a = qn.load %x[%c, %at] outside %zero : f32 : !qn.tensor<f32, [C, H:1]>
  %b = qn.load %w : !qn.tensor<f32, [O, C, I:1]>
  %m = arith.mulf %a, %b : f32
  %s = qn.reduce (%m : f32) init (%zero : f32) over [C, I] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [O, P:1]>
}
