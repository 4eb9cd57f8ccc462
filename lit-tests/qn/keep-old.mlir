// Reads that a write would come before go to a copy of the operand; others stay.
// RUN: quern-opt %s --split-input-file --qn-keep-old | FileCheck %s

// CHECK-LABEL: @shifted axes [A] staged 1
// CHECK-SAME: (%[[P:.*]]: !qn.tensor<f32, [A:1]>, %[[OLD:.*]]: !qn.tensor<f32, [A:1]>)
// CHECK: %[[V:.*]] = qn.load %[[P]]
// CHECK: qn.store %[[V]], %[[OLD]]
// CHECK: qn.load %[[OLD]][
// CHECK: qn.store %{{.*}}, %[[P]]
qn.rowwise @shifted axes [A] (%p: !qn.tensor<f32, [A:1]>) {
  %i = qn.index A
  %one = arith.constant 1 : i64
  %zero = arith.constant 0.0 : f32
  %at = arith.subi %i, %one : i64
  %v = qn.load %p[%at] outside %zero : f32 : !qn.tensor<f32, [A:1]>
  qn.store %v, %p : f32, !qn.tensor<f32, [A:1]>
}

// -----

// The row is read whole before it is written.
// CHECK-LABEL: @row axes [R, C]
// CHECK-NOT: staged
// CHECK: qn.store
qn.rowwise @row axes [R, C] (%p: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %p : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%v : f32) init (%zero : f32) over [C] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  %d = arith.subf %v, %s : f32
  qn.store %d, %p : f32, !qn.tensor<f32, [R, C:1]>
}

// -----

// The sum is stored by loops behind those of the row.
// CHECK-LABEL: @late axes [R, C] staged 1
qn.rowwise @late axes [R, C] (%p: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R:1]>) {
  %v = qn.load %p : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%v : f32) init (%zero : f32) over [C] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  %d = arith.addf %v, %v : f32
  qn.store %d, %p : f32, !qn.tensor<f32, [R, C:1]>
  qn.store %s, %out : f32, !qn.tensor<f32, [R:1]>
}

// -----

// Two results of one loop: both are computed before either is written.
// CHECK-LABEL: @swap axes [A]
// CHECK-NOT: staged
qn.rowwise @swap axes [A] (%p: !qn.tensor<f32, [A:1]>,
    %q: !qn.tensor<f32, [A:1]>) {
  %v = qn.load %p : !qn.tensor<f32, [A:1]>
  %w = qn.load %q : !qn.tensor<f32, [A:1]>
  qn.store %w, %p : f32, !qn.tensor<f32, [A:1]>
  qn.store %v, %q : f32, !qn.tensor<f32, [A:1]>
}
