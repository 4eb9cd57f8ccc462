// Four short rows are reduced side by side, each by one masked loop, so that no
// row waits for the chain that merges the lanes of another. Rows that are left
// over, and all longer ones, follow alone.
// RUN: quern-opt %s --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @sums_plan
// CHECK: arith.select %{{.*}}, %c16_i64, %c1_i64
// CHECK-LABEL: llvm.func @sums_task
// CHECK: %[[LEFT:.*]] = arith.remui %[[ALL:.*]], %c4_i64
// CHECK: %[[SHORT:.*]] = arith.cmpi slt, %{{.*}}, %c65_i64
// CHECK: %[[ALONE:.*]] = arith.select %[[SHORT]], %[[LEFT]], %[[ALL]]
// CHECK: %[[FOURS:.*]] = arith.subi %{{.*}}, %[[ALONE]]
// CHECK: scf.for {{.*}} to %[[FOURS]] step %c4_i64
// CHECK: scf.for {{.*}} step %c16_i64 iter_args(
// CHECK-SAME: -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-4: llvm.intr.masked.load
// CHECK: scf.yield
// CHECK-COUNT-4: llvm.store {{.*}} : f32
// CHECK: scf.for {{.*}} = %[[FOURS]] to %{{.*}} step %c1_i64
// CHECK: scf.for {{.*}} step %c64_i64 iter_args(
// CHECK-SAME: -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-1: llvm.store {{.*}} : f32
qn.rowwise @sums axes [R, C] short (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R:1]>) {
  %zero = arith.constant 0.0 : f32
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %s = qn.reduce (%v : f32) init (%zero : f32) over [C] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [R:1]>
}
