// Windows that all read the whole of what lies along the lanes: a vector's
// windows come one after the other, so that they find it in the caches. Turns
// that reach over no border run without masks; windows that are left behind
// fours repeat the last one.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @weights_task
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i64
// CHECK-DAG: %[[LANES:.*]] = arith.constant 16 : i64
// One vector of channels is the slowest axis of the units and of their loops.
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[LANES]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[FOUR]]
// CHECK: scf.if
// CHECK-NOT: llvm.intr.masked.load
// CHECK: } else {
// CHECK: scf.if
// CHECK-NOT: llvm.intr.masked.load
// CHECK-COUNT-4: math.fma
// CHECK: } else {
// CHECK-COUNT-4: llvm.intr.masked.load
// The rest: no window behind the last one.
// CHECK: scf.for %[[REST:.*]] = %{{.*}} to %[[END:.*]] step %[[FOUR]]
// CHECK: %[[TWO:.*]] = arith.addi %[[REST]], %c2_i64
// CHECK: arith.minsi %[[TWO]], %{{.*}}
qn.rowwise @weights axes [P, Q, C, I, J, H, W]
    (%grad: !qn.tensor<f32, [P, Q, C:1]>, %x: !qn.tensor<f32, [H, W, C:1]>,
    %out: !qn.tensor<f32, [I, J, C:1]>) {
  %zero = arith.constant 0.0 : f32
  %c = qn.index C
  %p = qn.index P
  %q = qn.index Q
  %i = qn.index I
  %j = qn.index J
  %h = arith.addi %p, %i : i64
  %two = arith.constant 2 : i64
  %apart = arith.muli %q, %two : i64
  %v = arith.addi %apart, %j : i64
  %a = qn.load %x[%h, %v, %c] outside %zero : f32 : !qn.tensor<f32, [H, W, C:1]>
  %b = qn.load %grad : !qn.tensor<f32, [P, Q, C:1]>
  %m = arith.mulf %a, %b : f32
  %s = qn.reduce (%m : f32) init (%zero : f32) over [P, Q] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [I, J, C:1]>
}
