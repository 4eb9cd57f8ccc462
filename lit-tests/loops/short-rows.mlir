// A unit has several rows where they are short, in a loop of its own: what
// depends on the axes outside is made once for all of them.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @resampled_plan
// CHECK: %[[SHORT:.*]] = arith.cmpi slt, %{{.*}}, %c512_i64
// CHECK: arith.select %[[SHORT]], %c16_i64, %c1_i64
// CHECK-LABEL: llvm.func @resampled_task
// CHECK: scf.for
// CHECK: %[[UPPER:.*]] = arith.minui
// CHECK: arith.divsi
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[UPPER]] step %c1_i64
// CHECK-NOT: arith.divsi
// CHECK: scf.for %{{.*}} step %c64_i64
// CHECK: llvm.intr.masked.load
qn.rowwise @resampled axes [H, W, P, Q, C]
    (%x: !qn.tensor<f32, [H, W, C:1]>, %k: i64,
    %out: !qn.tensor<f32, [P, Q, C:1]>) {
  %p = qn.index P
  %q = qn.index Q
  %c = qn.index C
  %h = arith.divsi %p, %k : i64
  %a = qn.load %x[%h, %q, %c] checked : !qn.tensor<f32, [H, W, C:1]>
  qn.store %a, %out : f32, !qn.tensor<f32, [P, Q, C:1]>
}

// Fewer rows where elements are added up for each, as many as its place says.
// CHECK-LABEL: llvm.func @windows_plan
// CHECK: arith.select %{{.*}}, %c4_i64, %c1_i64
qn.rowwise @windows axes [W, Q, C] (%x: !qn.tensor<f32, [W, C:1]>, %k: i64,
    %out: !qn.tensor<f32, [Q, C:1]>) {
  %none = arith.constant 0 : i64
  %zero = arith.constant 0.0 : f32
  %q = qn.index Q
  %j = qn.axis J from %none to %q
  %c = qn.index C
  %begin = arith.divsi %q, %k : i64
  %w = arith.addi %begin, %j : i64
  %v = qn.load %x[%w, %c] outside %zero : f32 : !qn.tensor<f32, [W, C:1]>
  %s = qn.reduce (%v : f32) init (%zero : f32) over [J] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [Q, C:1]>
}

// One row alone where it is long: a sum over an axis of the operands.
// CHECK-LABEL: llvm.func @sums_plan
// CHECK-NOT: arith.select %{{.*}}, %c4_i64, %c1_i64
// CHECK-LABEL: llvm.func @sums_task
qn.rowwise @sums axes [N, R, C] (%x: !qn.tensor<f32, [N, R, C:1]>,
    %out: !qn.tensor<f32, [N, C:1]>) {
  %zero = arith.constant 0.0 : f32
  %v = qn.load %x : !qn.tensor<f32, [N, R, C:1]>
  %s = qn.reduce (%v : f32) init (%zero : f32) over [R] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [N, C:1]>
}
