// bf16 products meet in pairs only on a target that has the instruction.
// RUN: quern-opt %s --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @mm_1_task
// CHECK-NOT: dpbf16
// CHECK: math.fma {{.*}} : vector<16xf32>
qn.rowwise @mm axes [M, N, K] (%x: !qn.tensor<bf16, [M, K:1]>,
    %y: !qn.tensor<bf16, [K, N:1]>, %out: !qn.tensor<f32, [M, N:1]>) {
  %a = qn.load %x : !qn.tensor<bf16, [M, K:1]>
  %b = qn.load %y : !qn.tensor<bf16, [K, N:1]>
  %aw = arith.extf %a : bf16 to f32
  %bw = arith.extf %b : bf16 to f32
  %p = arith.mulf %aw, %bw : f32
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
  qn.store %s, %out : f32, !qn.tensor<f32, [M, N:1]>
}
