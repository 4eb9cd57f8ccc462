// A portable reduction has 64 lanes, whatever the vector width, and halves
// them in one order.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v2 --qn-to-loops=target=x86-64-v2 | FileCheck %s

// CHECK-LABEL: llvm.func @sum_task
// CHECK: %[[ALL:.*]] = scf.for {{.*}} iter_args({{.*}}) -> (vector<64xf32>)
// Of the rest only those quarters that have elements are walked.
// CHECK: %[[FIRST:.*]] = vector.shuffle %[[ALL]], %[[ALL]] [0, 1, 2,
// CHECK: scf.for {{.*}} step %c16_i64 iter_args({{.*}} = %[[FIRST]]) -> (vector<16xf32>)
// CHECK: llvm.intr.masked.load
// CHECK: %[[LAST:.*]] = vector.shuffle %[[ALL]], %[[ALL]] [48, 49, 50,
// CHECK: scf.for {{.*}} step %c16_i64 iter_args({{.*}} = %[[LAST]]) -> (vector<16xf32>)
// CHECK: vector.shuffle {{.*}} : vector<64xf32>, vector<64xf32>
// CHECK: vector.shuffle {{.*}} : vector<32xf32>, vector<32xf32>
// CHECK-NOT: scf.for {{.*}} -> (f32)
// CHECK: llvm.return
qn.rowwise @sum axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%v : f32) init (%zero : f32) over [C] portable step {
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
