// A contraction packs its rows into panels, then runs a register tile over
// blocks of packed columns; small extents run neither.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 | FileCheck %s --check-prefix=WHEN
// RUN: quern-opt %s --qn-schedule=target=x86-64-v2 --qn-to-loops=target=x86-64-v2 | FileCheck %s --check-prefix=SMALL

// WHEN: %[[COLUMNS:.*]] = qn.size N
// WHEN: %[[THIN:.*]] = arith.cmpi slt, %[[COLUMNS]], %c8_i64
// WHEN: %[[WIDE:.*]] = arith.cmpi sge, %[[COLUMNS]], %c8_i64
// WHEN: arith.andi %[[WIDE]]
// WHEN: qn.dispatch stores when %[[THIN]]
// Rows lie along the sum: vectors are transposed before they are stored.
// CHECK-LABEL: llvm.func @mm_task
// CHECK-COUNT-24: vector.shuffle
// CHECK: llvm.store {{.*}} : vector<16xf32>
// A unit has as many rows as half of the second cache holds, where there are
// units enough; those that come later are fetched while a tile sums.
// CHECK-LABEL: llvm.func @mm_1_plan
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 256 : i64
// CHECK-DAG: %[[FEWER:.*]] = arith.constant 128 : i64
// CHECK: %[[WHOLE:.*]] = arith.select %{{.*}}, %[[FEWER]], %[[ROWS]] : i64
// Blocks are about equal and a multiple of the threads; one stays one.
// CHECK: %[[BLOCKS:.*]] = arith.divui %{{.*}}, %[[WHOLE]]
// CHECK: %[[ALONE:.*]] = arith.cmpi eq, %[[BLOCKS]], %[[ONE:c1_i64.*]] : i64
// CHECK: arith.select %[[ALONE]], %[[ONE]], %{{.*}} : i64
// With sixteen registers six rows meet two vectors: eight are transposed, in two squares, and
// blocks have a multiple of six.
// SMALL-LABEL: llvm.func @mm_task
// SMALL-COUNT-16: vector.shuffle
// SMALL-LABEL: llvm.func @mm_1_plan
// SMALL-NOT: arith.constant 256
// SMALL: arith.constant 132 : i64
// SMALL-LABEL: llvm.func @mm_1_task
// SMALL: scf.for {{.*}} -> (vector<4xf32>{{(, vector<4xf32>)+}})
// SMALL-COUNT-12: arith.mulf
// SMALL-NOT: arith.mulf
// SMALL: scf.yield
// What a unit packs lies in its worker's own memory.
// CHECK-LABEL: llvm.func @mm_1_task
// CHECK-NOT: llvm.alloca
// CHECK: arith.muli %{{.*}}, %arg3
// Eight rows meet two vectors of columns.
// CHECK: scf.for {{.*}} iter_args
// CHECK: "llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 2 : i32
// CHECK-COUNT-16: math.fma {{.*}} : vector<16xf32>
// CHECK-NOT: math.fma
// CHECK-LABEL: llvm.func @mm_2_plan
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
