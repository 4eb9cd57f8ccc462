// A reduction behind products walks over a block of them that is kept in
// memory of the worker's own.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// The plan asks for memory of each worker: its fourth word is not zero.
// CHECK-LABEL: llvm.func @most_1_plan
// CHECK: llvm.getelementptr %arg1[3]
// CHECK-LABEL: llvm.func @most_1_task
// CHECK: arith.muli %{{.*}}, %arg3
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-16: math.fma {{.*}} : vector<16xf32>
// What is kept is read back: no product is made twice.
// CHECK-NOT: math.fma
// CHECK: arith.maximumf
qn.rowwise @most axes [M, N, K] (%x: !qn.tensor<f32, [M, K:1]>,
    %y: !qn.tensor<f32, [N, K:1]>, %out: !qn.tensor<f32, [M:1]>) {
  %a = qn.load %x : !qn.tensor<f32, [M, K:1]>
  %b = qn.load %y : !qn.tensor<f32, [N, K:1]>
  %p = arith.mulf %a, %b : f32
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%p : f32) init (%zero : f32) over [K] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  %m = qn.reduce (%s : f32) init (%zero : f32) over [N] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.maximumf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.maximumf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %m, %out : f32, !qn.tensor<f32, [M:1]>
}
