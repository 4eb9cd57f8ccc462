// Eight short rows are reduced side by side, so that no row waits for the chain
// that merges the lanes of another. What is made of their sums is made of a
// vector of them. Rows that are left over follow alone. Longer ones have another
// dispatch.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 | FileCheck %s --check-prefix=WHEN
// RUN: quern-opt %s --qn-schedule=target=x86-64-v2 --qn-to-loops=target=x86-64-v2 \
// RUN:   | FileCheck %s --check-prefix=LINE

// They are read one after the other, whole vectors first. A row of four short
// vectors is one line: there one of every row is read in turns.

// WHEN: %[[SHORT:.*]] = arith.cmpi sle, %{{.*}}, %c64_i64
// WHEN: qn.dispatch stores when %[[SHORT]] of [0] parallel [R] lane C {{.*}} together first_rows whole
// WHEN-NEXT: qn.loop R tile 32 lanes 1 copies 8
// CHECK-LABEL: llvm.func @means_task
// CHECK: scf.for {{.*}} step %c64_i64 iter_args(
// CHECK-SAME: -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-LABEL: llvm.func @means_1_task
// CHECK: %[[SHARE:.*]] = vector.broadcast {{.*}} : f32 to vector<8xf32>
// CHECK: %[[LEFT:.*]] = arith.remui %{{.*}}, %c8_i64
// CHECK: %[[EIGHTS:.*]] = arith.subi %{{.*}}, %[[LEFT]]
// CHECK: scf.for {{.*}} to %[[EIGHTS]] step %c8_i64
// CHECK: scf.for {{.*}} step %c16_i64 iter_args(
// CHECK-NEXT: getelementptr
// CHECK-NEXT: llvm.load
// CHECK-NEXT: arith.addf
// CHECK-NEXT: scf.yield
// CHECK: scf.for {{.*}} step %c16_i64 iter_args(
// CHECK-COUNT-1: llvm.intr.masked.load
// CHECK: scf.yield
// CHECK-COUNT-14: scf.for {{.*}} step %c16_i64 iter_args(
// CHECK: %[[SUMS:.*]] = arith.addf {{.*}} : vector<8xf32>
// CHECK: %[[MEANS:.*]] = arith.mulf %[[SUMS]], %[[SHARE]] : vector<8xf32>
// CHECK: llvm.store %[[MEANS]], {{.*}} : vector<8xf32>
// CHECK-NOT: llvm.store
// CHECK: scf.for {{.*}} = %[[EIGHTS]] to %{{.*}} step %c1_i64
// CHECK: scf.for {{.*}} step %c64_i64 iter_args(
// CHECK-SAME: -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-1: llvm.store {{.*}} : f32
// LINE-LABEL: llvm.func @means_1_task
// LINE: scf.for {{.*}} step %c8_i64
// LINE: scf.for {{.*}} step %c4_i64 iter_args(
// LINE-COUNT-8: llvm.load {{.*}} vector<4xf32>
// LINE: scf.yield
qn.rowwise @means axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %share: f32, %out: !qn.tensor<f32, [R:1]>) {
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
  %m = arith.mulf %s, %share : f32
  qn.store %m, %out : f32, !qn.tensor<f32, [R:1]>
}

// In the order that the extent fixes, short rows have the pieces of one round of
// 64 positions and no rounds before them, and the shortest the first piece. Where
// there is little arithmetic masks leave out what is not there, and no row
// waits for a branch of its own. Rows of several pieces are read by a loop, one
// after the other, and what is made of them waits in memory.
// CHECK-LABEL: llvm.func @fixed_1_task
// CHECK-COUNT-2: llvm.alloca {{.*}} x vector<16xf32>
// CHECK: scf.for {{.*}} step %c8_i64
// CHECK-NOT: scf.for
// CHECK: arith.cmpi ugt, %{{.*}}, %c16_i64
// CHECK: scf.if
// CHECK: arith.cmpi ugt, %{{.*}}, %c32_i64
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c0_i64 to %c8_i64{{.*}} step %c1_i64
// CHECK-COUNT-4: llvm.intr.masked.load
// CHECK-NOT: llvm.intr.masked.load
// CHECK: llvm.store {{.*}} : vector<16xf32>
// CHECK: }
// CHECK-COUNT-8: llvm.load {{.*}} -> vector<16xf32>
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0_i64 to %c8_i64{{.*}} step %c1_i64
// CHECK-COUNT-2: llvm.intr.masked.load
// CHECK-NOT: llvm.intr.masked.load
// CHECK: } else {
// CHECK-NOT: scf.for
// CHECK-COUNT-8: llvm.intr.masked.load
// CHECK-NOT: llvm.intr.masked.load
// CHECK: scf.for {{.*}} step %c1_i64
// CHECK: scf.for {{.*}} step %c64_i64 iter_args({{.*}} -> (vector<64xf32>)
// CHECK: scf.for {{.*}} step %c16_i64 iter_args({{.*}} -> (vector<16xf32>)
qn.rowwise @fixed axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R:1]>) {
  %zero = arith.constant 0.0 : f32
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
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

// Where rows are written as well, the first sum has a masked loop for each row.
// What reads them again has one loop for all: they are near.
// CHECK-LABEL: llvm.func @centred_1_task
// CHECK: scf.for {{.*}} step %c8_i64
// CHECK: scf.for {{.*}} step %c16_i64 iter_args(
// CHECK-NOT: scf.yield
// CHECK: llvm.intr.masked.load
// CHECK-NOT: llvm.intr.masked.load
// CHECK: scf.yield
// CHECK-COUNT-7: scf.for {{.*}} step %c16_i64 iter_args(
// CHECK: vector.shuffle
// CHECK: scf.for {{.*}} step %c16_i64 iter_args(
// CHECK-COUNT-8: llvm.intr.masked.load
// CHECK: scf.yield
// CHECK: vector.shuffle
qn.rowwise @centred axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %share: f32, %out: !qn.tensor<f32, [R, C:1]>) {
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
  %m = arith.mulf %s, %share : f32
  %d = arith.subf %v, %m : f32
  %t = qn.reduce (%d : f32) init (%zero : f32) over [C] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  %o = arith.mulf %d, %t : f32
  qn.store %o, %out : f32, !qn.tensor<f32, [R, C:1]>
}
