// A product of few rows packs nothing: its columns are added up where they lie,
// in parts that tasks share, where they are neighbours.
// RUN: quern-opt %s --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @mm_plan
// CHECK: %[[WIDE:.*]] = arith.cmpi sge
// CHECK: %[[TALL:.*]] = arith.cmpi sge
// CHECK: arith.andi %[[WIDE]], %[[TALL]]
// CHECK-LABEL: llvm.func @mm_2_plan
// CHECK: arith.cmpi sge
// CHECK: arith.cmpi slt
// CHECK-LABEL: llvm.func @mm_2_task
// Eight summed elements meet one vector of columns.
// CHECK-COUNT-8: math.fma {{.*}} : vector<16xf32>
// CHECK-LABEL: llvm.func @mm_3_task
// CHECK-LABEL: llvm.func @mm_4_plan
qn.rowwise @mm axes [M, N, K] (%x: !qn.tensor<f32, [M, K:1]>,
    %y: !qn.tensor<f32, [K, N:1]>, %out: !qn.tensor<f32, [M, N:1]>) {
  %a = qn.load %x : !qn.tensor<f32, [M, K:1]>
  %b = qn.load %y : !qn.tensor<f32, [K, N:1]>
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
  qn.store %s, %out : f32, !qn.tensor<f32, [M, N:1]>
}
