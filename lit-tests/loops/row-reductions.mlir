// Reductions over a contiguous axis: several accumulators, one loop for those
// that need the same earlier results, lanes merged in halves.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @two_task
// CHECK: scf.for
// The sum and the sum of squares share a loop of four vectors each.
// CHECK: scf.for {{.*}} iter_args(
// CHECK-SAME: -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK: math.fma
// The rest is masked.
// CHECK: scf.for
// CHECK: %[[MASK:.*]] = arith.cmpi slt
// CHECK: arith.select %[[MASK]]
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: llvm.store {{.*}} : f32
qn.rowwise @two axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %first: !qn.tensor<f32, [R:1]>, %second: !qn.tensor<f32, [R:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %q = arith.mulf %v, %v : f32
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
  %t = qn.reduce (%q : f32) init (%zero : f32) over [C] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %s, %first : f32, !qn.tensor<f32, [R:1]>
  qn.store %t, %second : f32, !qn.tensor<f32, [R:1]>
}
