// Where an operand that is read at computed places keeps its neighbours along
// another axis than the result, sums have their lanes along what they read, and
// single reads go through squares of both axes.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s

// CHECK-LABEL: llvm.func @sums_task
// CHECK-NOT: gather
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK: llvm.intr.masked.scatter
qn.rowwise @sums axes [C, P, Q, I] (%x: !qn.tensor<f32, [C:1, P]>,
    %out: !qn.tensor<f32, [C, Q:1]>, %n: !qn.tensor<f32, [I]>) {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2 : i64
  %c = qn.index C
  %q = qn.index Q
  %i = qn.index I
  %first = arith.muli %q, %two : i64
  %at = arith.addi %first, %i : i64
  %a = qn.load %x[%c, %at] : !qn.tensor<f32, [C:1, P]>
  %s = qn.reduce (%a : f32) init (%zero : f32) over [I] step {
  ^bb0(%t: f32, %e: f32):
    %v = arith.addf %t, %e : f32
    qn.yield %v : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %v = arith.addf %t, %u : f32
    qn.yield %v : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [C, Q:1]>
}

// CHECK-LABEL: llvm.func @picked_task
// CHECK-COUNT-8: llvm.intr.masked.gather {{.*}} vector<8xf32>
// CHECK-NOT: scatter
// CHECK: llvm.return
qn.rowwise @picked axes [C, P, Q] (%x: !qn.tensor<f32, [C:1, P]>,
    %p: !qn.tensor<i64, [Q:1]>, %out: !qn.tensor<f32, [C, Q:1]>) {
  %c = qn.index C
  %at = qn.load %p : !qn.tensor<i64, [Q:1]>
  %a = qn.load %x[%c, %at] : !qn.tensor<f32, [C:1, P]>
  qn.store %a, %out : f32, !qn.tensor<f32, [C, Q:1]>
}

// Neighbours of both along one axis: nothing changes.
// CHECK-LABEL: llvm.func @same_task
// CHECK-NOT: gather
// CHECK-NOT: scatter
// CHECK: llvm.return
qn.rowwise @same axes [C, P, Q] (%x: !qn.tensor<f32, [P, C:1]>,
    %p: !qn.tensor<i64, [Q:1]>, %out: !qn.tensor<f32, [Q, C:1]>) {
  %c = qn.index C
  %at = qn.load %p : !qn.tensor<i64, [Q:1]>
  %a = qn.load %x[%at, %c] : !qn.tensor<f32, [P, C:1]>
  qn.store %a, %out : f32, !qn.tensor<f32, [Q, C:1]>
}
