// A sum of everything is made of parts by many tasks, and merged: its result has a
// place in the workspace, and what reads it is a dispatch of its own.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 | FileCheck %s

// CHECK: %[[SUM:.*]] = qn.reduce
// CHECK: qn.schedule for "x86-64-v4" parts 8 {{.*}} {
// CHECK-NEXT: qn.inner C lanes 16 copies {{[0-9]+}} reduce_copies {{[0-9]+}}
// CHECK-NEXT: qn.split %[[SUM]] at 0 : f32
// CHECK-NEXT: qn.dispatch partials reductions %[[SUM]] : f32 parallel [] lane C worth {{[0-9]+}} {
// CHECK-NEXT: qn.loop C tile {{[0-9]+}} lanes 1 copies 1
// CHECK: qn.dispatch merge reductions %[[SUM]] : f32
// CHECK: qn.dispatch stores of [0] parallel []
qn.rowwise @total axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, []>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  %z = arith.constant 0.0 : f32
  %s = qn.reduce (%v : f32) init (%z : f32) over [C] step {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, []>
}
