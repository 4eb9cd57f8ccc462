// A loop over an axis that operands are joined along is cut where they meet.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=sm_90 --qn-to-loops=target=sm_90 | FileCheck %s --check-prefix=GPU

// Every piece reads one operand through words found by its number: nothing is
// masked but the rest of a piece. Stores past the caches begin at a multiple of
// their size.
// CHECK-LABEL: llvm.func @copy_task
// CHECK: scf.if
// CHECK: scf.for %[[NUMBER:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK: arith.muli %[[NUMBER]], %{{.*}}
// CHECK: llvm.load %{{.*}} invariant {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK: arith.andi %{{.*}}, %c-16
// CHECK: llvm.intr.masked.store
// CHECK: llvm.store {{.*}}nontemporal}
// CHECK: llvm.intr.masked.store
// GPU-LABEL: ptx_kernelcc @copy_thread
// GPU: llvm.load
// GPU: llvm.load
qn.rowwise @copy axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %y: !qn.tensor<f32, [C:1]>, %out: !qn.tensor<f32, [C:1]>, %m: i64,
    %n: i64) {
  %v = qn.joined %x, %y ends %m, %n along C
    : !qn.tensor<f32, [C:1]>, !qn.tensor<f32, [C:1]> -> f32
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
}

// Where the lanes are part of the result no loop is cut: each lane reads the
// operand that it lies in.
// CHECK-LABEL: llvm.func @total_task
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args(
// CHECK: scf.for {{.*}} iter_args(%[[SO_FAR:.*]] =
// CHECK: llvm.intr.masked.load %{{.*}}, %{{.*}}, %[[SO_FAR]]
qn.rowwise @total axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %y: !qn.tensor<f32, [R, C:1]>, %out: !qn.tensor<f32, [R]>, %m: i64,
    %n: i64) {
  %v = qn.joined %x, %y ends %m, %n along C
    : !qn.tensor<f32, [R, C:1]>, !qn.tensor<f32, [R, C:1]> -> f32
  %zero = arith.constant 0.0 : f32
  %sum = qn.reduce (%v : f32) init (%zero : f32) over [C] portable step {
  ^bb0(%s: f32, %e: f32):
    %t = arith.addf %s, %e : f32
    qn.yield %t : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    qn.yield %t : f32
  }
  qn.store %sum, %out : f32, !qn.tensor<f32, [R]>
}
