// A position that the text keeps within its axis is looked at no more: only
// whether the axis is empty is asked.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s

// CHECK-LABEL: llvm.func @held_task
// CHECK: arith.cmpi ult, %{{.*}} : i64
// CHECK-NOT: arith.cmpi ult, {{.*}} vector
// CHECK: llvm.return
qn.rowwise @held axes [H, P, C] (%x: !qn.tensor<f32, [H, C:1]>,
    %p: !qn.tensor<i64, [P:1]>, %out: !qn.tensor<f32, [P:1, C]>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c = qn.index C
  %h = qn.size H
  %last = arith.subi %h, %one : i64
  %at = qn.load %p : !qn.tensor<i64, [P:1]>
  %low = arith.maxsi %at, %zero : i64
  %kept = arith.minsi %low, %last : i64
  %a = qn.load %x[%kept, %c] checked : !qn.tensor<f32, [H, C:1]>
  %next = arith.addi %kept, %one : i64
  %below = arith.minsi %next, %last : i64
  %b = qn.load %x[%below, %c] checked : !qn.tensor<f32, [H, C:1]>
  %s = arith.addf %a, %b : f32
  qn.store %s, %out : f32, !qn.tensor<f32, [P:1, C]>
}

// The place before the last may not be there.
// CHECK-LABEL: llvm.func @before_task
// CHECK: arith.cmpi ult, {{.*}} vector
// CHECK: llvm.return
qn.rowwise @before axes [H, P, C] (%x: !qn.tensor<f32, [H, C:1]>,
    %p: !qn.tensor<i64, [P:1]>, %out: !qn.tensor<f32, [P:1, C]>) {
  %zero = arith.constant 0 : i64
  %two = arith.constant 2 : i64
  %c = qn.index C
  %h = qn.size H
  %last = arith.subi %h, %two : i64
  %at = qn.load %p : !qn.tensor<i64, [P:1]>
  %low = arith.maxsi %at, %zero : i64
  %kept = arith.minsi %low, %last : i64
  %a = qn.load %x[%kept, %c] checked : !qn.tensor<f32, [H, C:1]>
  qn.store %a, %out : f32, !qn.tensor<f32, [P:1, C]>
}
