// Few rows meet columns that are not packed: one row's columns are added up
// where they lie, in parts that tasks share; those of up to 32 are read once for
// all rows. Columns that the second cache holds are read by a register tile.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 | FileCheck %s --check-prefix=WHEN

// WHEN-LABEL: qn.rowwise @mm
// WHEN: %[[NEAR:.*]] = arith.cmpi sle, %{{.*}}, %c65536_i64
// WHEN: %[[ALL:.*]] = arith.andi %[[NEAR]]
// WHEN: %[[SMALL:.*]] = arith.andi %{{.*}}, %[[ALL]]
// WHEN: %[[FEW:.*]] = arith.cmpi sle, %{{.*}}, %c32_i64
// WHEN: %[[STREAMED:.*]] = arith.andi %{{.*}}, %[[FEW]]
// WHEN: qn.dispatch stream when %[[STREAMED]]
// WHEN: qn.dispatch stores when %[[SMALL]]
// CHECK-LABEL: llvm.func @mm_2_task
// Eight rows of columns, two vectors of each, are read where they lie.
// CHECK-COUNT-16: llvm.load {{.*}} -> vector<16xf32>
// Their sums with two rows are read and written once.
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<16xf32>
// CHECK-COUNT-32: math.fma {{.*}} : vector<16xf32>
// CHECK-LABEL: llvm.func @mm_3_plan
// CHECK-LABEL: llvm.func @mm_3_task
// Eight summed elements meet one vector of columns.
// CHECK-COUNT-8: math.fma {{.*}} : vector<16xf32>
// CHECK-LABEL: llvm.func @mm_4_task
// CHECK-LABEL: llvm.func @mm_5_task
// Eight rows meet two vectors of columns.
// CHECK-COUNT-16: math.fma {{.*}} : vector<16xf32>
// CHECK-LABEL: llvm.func @mm_6_plan
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

// Columns along the sum are read in place, too, by rows of an eighth of the
// second cache: each serves the rows of a tile.
// WHEN-LABEL: qn.rowwise @along
// WHEN: arith.cmpi sle, %{{.*}}, %c32768_i64
// WHEN: arith.cmpi sle, %{{.*}}, %c65536_i64
// CHECK-LABEL: llvm.func @along_3_task
// CHECK: %{{.*}}:16 = scf.for
// CHECK-COUNT-16: math.fma {{.*}} : vector<16xf32>
qn.rowwise @along axes [M, N, K] (%x: !qn.tensor<f32, [M, K:1]>,
    %y: !qn.tensor<f32, [N, K:1]>, %out: !qn.tensor<f32, [M, N:1]>) {
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
  qn.store %s, %out : f32, !qn.tensor<f32, [M, N:1]>
}
