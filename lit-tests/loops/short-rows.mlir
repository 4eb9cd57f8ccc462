// A unit has several rows where they are short, in a loop of its own: what
// depends on the axes outside is made once for all of them.
// RUN: quern-opt %s --qn-to-loops=target=x86-64-v4 | FileCheck %s

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
