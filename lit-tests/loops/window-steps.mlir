// Lanes of a window move by one step, a number of the launch: neighbours where
// it is one, every second element of two vectors where it is two and all lanes
// read, else a gather at multiples of it. Bounds are checked in 32 bits.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @pool_task
// CHECK: arith.cmpi slt, {{.*}} : vector<16xi32>
// CHECK: %[[NEAR:.*]] = arith.cmpi eq
// CHECK: scf.if %[[NEAR]]
// CHECK: llvm.intr.masked.load
// CHECK: else
// CHECK: %[[SECOND:.*]] = arith.cmpi eq
// CHECK: %[[ALL:.*]] = vector.reduction <and>
// CHECK: %[[BOTH:.*]] = arith.andi %[[SECOND]], %[[ALL]]
// CHECK: scf.if %[[BOTH]]
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<16xf32>
// CHECK: vector.shuffle {{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31]
// CHECK: else
// CHECK: llvm.intr.masked.gather
qn.rowwise @pool axes [Q, W] (%x: !qn.tensor<f32, [W:1]>, %s: i64, %k: i64,
    %out: !qn.tensor<f32, [Q:1]>) {
  %none = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %q = qn.index Q
  %j = qn.axis J from %none to %k
  %m = arith.muli %q, %s : i64
  %p = arith.addi %m, %j : i64
  %v = qn.load %x[%p] outside %zero : f32 : !qn.tensor<f32, [W:1]>
  %r = qn.reduce (%v : f32) init (%zero : f32) over [J] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %r, %out : f32, !qn.tensor<f32, [Q:1]>
}
