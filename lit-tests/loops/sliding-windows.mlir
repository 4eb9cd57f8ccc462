// Rows of windows beside each other: where the window reaches over no border a
// single test stands before the loops, and a row that was read serves the
// windows above it in the next steps. The taps that the lanes' bounds depend on
// come first.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @depthwise_task
// CHECK: scf.if
// Three rows are read before the loop, one in it, for four sums.
// CHECK-COUNT-3: llvm.intr.masked.load
// CHECK: %{{.*}}:7 = scf.for
// CHECK-NOT: arith.cmpi ult
// CHECK-NOT: llvm.intr.masked.load
// CHECK-COUNT-3: math.fma
// CHECK-NOT: arith.cmpi ult
// CHECK: llvm.intr.masked.load
// CHECK-NEXT: math.fma
// CHECK-NEXT: scf.yield
// CHECK: } else {
qn.rowwise @depthwise axes [C, H, W, I, J, P, Q]
    (%x: !qn.tensor<f32, [C, H, W:1]>, %w: !qn.tensor<f32, [C, I, J]>,
    %out: !qn.tensor<f32, [C, P, Q:1]>) {
  %zero = arith.constant 0.0 : f32
  %c = qn.index C
  %p = qn.index P
  %q = qn.index Q
  %i = qn.index I
  %j = qn.index J
  %h = arith.addi %p, %i : i64
  %v = arith.addi %q, %j : i64
  %a = qn.load %x[%c, %h, %v] outside %zero : f32 : !qn.tensor<f32, [C, H, W:1]>
  %b = qn.load %w : !qn.tensor<f32, [C, I, J]>
  %m = arith.mulf %a, %b : f32
  %s = qn.reduce (%m : f32) init (%zero : f32) over [I, J] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [C, P, Q:1]>
}
