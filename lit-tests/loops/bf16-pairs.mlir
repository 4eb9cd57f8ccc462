// bf16 products meet in pairs only on a target that has the instruction, and in
// tile registers, two by two of them, on one that has those.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=znver4 --qn-to-loops=target=znver4 | FileCheck %s --check-prefix=PAIRS
// RUN: quern-opt %s --qn-schedule=target=sapphirerapids --qn-to-loops=target=sapphirerapids | FileCheck %s --check-prefix=TILES

// PAIRS-LABEL: llvm.func @mm_1_task
// PAIRS-COUNT-16: dpbf16ps.512
// PAIRS-NOT: tdpbf16ps

// Rows are packed as lines of 16 words, one row after the other; what is behind
// the last summed element is zero.
// TILES-LABEL: llvm.func @mm_task
// TILES: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<32xbf16>
// TILES: arith.select {{.*}}, {{.*}}, %[[ZERO]] : vector<32xi1>, vector<32xbf16>
// TILES-NOT: vector.shuffle
// TILES-LABEL: llvm.func @mm_1_task
// TILES: %[[FIRST:.*]]:4 = scf.if
// TILES-COUNT-4: tilezero
// TILES: scf.for {{.*}} step %c16_i64 iter_args({{.*}} = %[[FIRST]]#0
// TILES-COUNT-4: tileloadd64
// TILES-COUNT-4: tdpbf16ps
// TILES: scf.yield
// TILES-COUNT-4: tilestored64

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
