// A sort is a launch in front of what reads it: a unit fills the keys of a row
// and sends them where the bytes that differ say, or merges runs; the order
// lies in the workspace.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s

// The order of 8 bytes an element, and as much to merge into.
// CHECK-LABEL: llvm.func @sorted_plan
// CHECK-LABEL: llvm.func @sorted_task
// Keys share a word with their position.
// CHECK: arith.extui {{.*}} : i32 to i64
// CHECK: arith.shli
// CHECK: arith.ori
// Which bits differ, and a pass for each byte that has some: counts of it, the
// places that they give, and the words there.
// CHECK: %[[VARYING:.*]] = vector.reduction <or>
// CHECK: %[[HIGH:.*]] = arith.andi %[[VARYING]]
// CHECK: llvm.intr.ctpop
// CHECK: scf.while {{.*}} = %[[HIGH]]
// CHECK: llvm.intr.cttz
// CHECK: arith.shrui
// CHECK: scf.while
// CHECK: arith.minui
// CHECK: arith.select {{.*}} : i64
// CHECK-LABEL: llvm.func @sorted_1_plan
// CHECK-LABEL: llvm.func @sorted_1_task
// CHECK: llvm.load {{.*}} -> vector<4xi64>
// CHECK: llvm.intr.masked.gather
qn.rowwise @sorted axes [R, C] staged 1 (%x: !qn.tensor<i32, [R, C:1]>,
    %out: !qn.tensor<i32, [R, C:1]>, %order: !qn.tensor<i64, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<i32, [R, C:1]>
  qn.sort %v over C, %order : i32, !qn.tensor<i64, [R, C:1]>
  %p = qn.load %order : !qn.tensor<i64, [R, C:1]>
  %r = qn.index R
  %s = qn.load %x[%r, %p] : !qn.tensor<i32, [R, C:1]>
  qn.store %s, %out : i32, !qn.tensor<i32, [R, C:1]>
}

// Where fewer ranks are wanted, a buffer of them is filled from the words and
// ranked by counting; the order is as long as what is wanted.
// CHECK-LABEL: llvm.func @few_task
// CHECK: arith.minui
// CHECK: arith.cmpi ult, {{.*}} : vector<4xi64>
// CHECK: llvm.call_intrinsic "llvm.experimental.vector.compress"
qn.rowwise @few axes [R, C, K] staged 1 (%x: !qn.tensor<i32, [R, C:1]>,
    %out: !qn.tensor<i64, [R, K:1]>, %order: !qn.tensor<i64, [R, K:1]>) {
  %v = qn.load %x : !qn.tensor<i32, [R, C:1]>
  qn.sort %v over C, %order : i32, !qn.tensor<i64, [R, K:1]>
  %p = qn.load %order : !qn.tensor<i64, [R, K:1]>
  qn.store %p, %out : i64, !qn.tensor<i64, [R, K:1]>
}
