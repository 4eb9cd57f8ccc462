// Rows that an operand names are asked for before their turn, past the caches.
// What masked lanes ask for (masked-lanes.mlir) is left out here.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | sed '/\[4096\]/,+1d' | FileCheck %s

// The row after the next, no further than the last one.
// CHECK-LABEL: llvm.func @select_task
// CHECK: scf.if
// CHECK: %[[LATER:.*]] = arith.addi %{{.*}}, %c2_i64
// CHECK: arith.minsi %[[LATER]]
// CHECK: llvm.intr.prefetch
// CHECK: nontemporal
// CHECK: } else {
// CHECK-NOT: prefetch
qn.rowwise @select axes [K, C, N] (%x: !qn.tensor<f32, [N, C:1]>,
    %i: !qn.tensor<i64, [K:1]>, %out: !qn.tensor<f32, [K, C:1]>) {
  %c = qn.index C
  %at = qn.load %i : !qn.tensor<i64, [K:1]>
  %v = qn.load %x[%at, %c] checked : !qn.tensor<f32, [N, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [K, C:1]>
}

// Places within a row: its lines in order, if the row is not the longer one.
// CHECK-LABEL: llvm.func @gather_task
// CHECK: %[[FITS:.*]] = arith.cmpi sle
// CHECK: %[[LINE:.*]] = arith.select %[[FITS]]
// CHECK: "llvm.intr.prefetch"(%[[LINE]])
// CHECK: } else {
// CHECK-NOT: prefetch
qn.rowwise @gather axes [R, C, N] (%x: !qn.tensor<f32, [R, N:1]>,
    %i: !qn.tensor<i64, [R, C:1]>, %out: !qn.tensor<f32, [R, C:1]>) {
  %r = qn.index R
  %at = qn.load %i : !qn.tensor<i64, [R, C:1]>
  %v = qn.load %x[%r, %at] checked : !qn.tensor<f32, [R, N:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// A position that nothing but the text says is no such thing.
// CHECK-LABEL: llvm.func @mirror_task
// CHECK-NOT: prefetch
qn.rowwise @mirror axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %c = qn.index C
  %r = qn.index R
  %n = qn.size R
  %one = arith.constant 1 : i64
  %last = arith.subi %n, %one : i64
  %at = arith.subi %last, %r : i64
  %v = qn.load %x[%at, %c] checked : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// Rows of two operands: four lines of the one, then four of the other.
// CHECK-LABEL: llvm.func @halves_task
// CHECK: scf.if
// CHECK: scf.for {{.*}} step %c64_i64
// CHECK-COUNT-8: llvm.intr.prefetch
// CHECK-NOT: prefetch
// CHECK-COUNT-4: nontemporal
// CHECK: } else {
// CHECK-NOT: prefetch
qn.rowwise @halves axes [R, C, H] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, H:1]>) {
  %r = qn.index R
  %h = qn.index H
  %half = qn.size H
  %there = arith.addi %h, %half : i64
  %a = qn.load %x[%r, %h] checked : !qn.tensor<f32, [R, C:1]>
  %b = qn.load %x[%r, %there] checked : !qn.tensor<f32, [R, C:1]>
  %s = arith.mulf %a, %b : f32
  qn.store %s, %out : f32, !qn.tensor<f32, [R, H:1]>
}

// What all rows read lies in a cache.
// CHECK-LABEL: llvm.func @shifted_task
// CHECK-NOT: prefetch
// CHECK: llvm.return
qn.rowwise @shifted axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %b: !qn.tensor<f32, [C:1]>, %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %w = qn.load %b : !qn.tensor<f32, [C:1]>
  %s = arith.addf %v, %w : f32
  qn.store %s, %out : f32, !qn.tensor<f32, [R, C:1]>
}
