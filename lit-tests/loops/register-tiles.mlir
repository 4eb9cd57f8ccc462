// A sum of products that cannot be packed, its lanes along a column, keeps a
// tile of rows and columns in registers.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s

// CHECK-LABEL: llvm.func @mm_task
// Six rows share two vectors: with one element of a row they fill the registers.
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>{{(, vector<8xf32>)+}})
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<8xf32>
// CHECK-COUNT-12: math.fma
// CHECK: scf.yield
qn.rowwise @mm axes [M, N, K] (%x: !qn.tensor<f32, [M, K:1]>,
    %y: !qn.tensor<f32, [K, N:1]>, %c: i1, %out: !qn.tensor<f32, [M, N:1]>) {
  %a = qn.load %x : !qn.tensor<f32, [M, K:1]>
  %b = qn.load %y : !qn.tensor<f32, [K, N:1]>
  %p = arith.mulf %a, %b : f32
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%p : f32) init (%zero : f32) over [K] where %c step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [M, N:1]>
}
