// What can be said of many positions of a scatter is not asked of each.
// RUN: quern-opt %s --split-input-file --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// Elements of a row that go to different places: a stretch of the row is looked
// at by vectors; where all are good, four at a time are written without another
// look, else one by one with a note.
// CHECK-LABEL: llvm.func @own_places_1_task
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1_i64
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1024_i64
// CHECK: %[[LONG:.*]] = arith.cmpi uge
// CHECK: %[[GOOD:.*]] = scf.if %[[LONG]] -> (i1)
// CHECK-COUNT-4: arith.cmpi ult, {{.*}} : vector<16xi64>
// CHECK: vector.reduction <and>
// CHECK: scf.if %[[GOOD]] {
// CHECK: scf.for {{.*}} step %c4_i64
// CHECK-NOT: arith.cmpi
// CHECK-COUNT-4: arith.addf {{.*}} : f32
// CHECK: } else {
// CHECK: arith.cmpi ult, {{.*}} : i64
// CHECK: arith.addf {{.*}} : f32
qn.rowwise @own_places axes [V, N, D] (%i: !qn.tensor<i64, [N, D:1]>,
    %x: !qn.tensor<f32, [N, D:1]>, %out: !qn.tensor<f32, [V, D:1]>) {
  %zero = arith.constant 0.0 : f32
  qn.store %zero, %out : f32, !qn.tensor<f32, [V, D:1]>
  %v = qn.load %i : !qn.tensor<i64, [N, D:1]>
  %d = qn.index D
  %e = qn.load %x : !qn.tensor<f32, [N, D:1]>
  qn.scatter %e to %out[%v, %d] checked : f32 to !qn.tensor<f32, [V, D:1]> {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
}

// -----

// Numbers along axes that are no longer than those they index are inside: of
// the rows that are written, and of both axes of what is read.
// CHECK-LABEL: llvm.func @part_1_task
// CHECK-COUNT-3: arith.cmpi ule, {{.*}} : i64
// CHECK: scf.if
// CHECK-NOT: arith.cmpi ult, {{.*}} : i64
// CHECK: scf.for {{.*}} step %c4_i64
// CHECK-NOT: arith.cmpi ult, {{.*}} : i64
// CHECK: } else {
// CHECK: arith.cmpi ult, {{.*}} : i64
qn.rowwise @part axes [S, N, R, C, Q, D] (%i: !qn.tensor<i64, [R, C:1]>,
    %x: !qn.tensor<f32, [Q, D:1]>, %out: !qn.tensor<f32, [S, N:1]>) {
  %zero = arith.constant 0.0 : f32
  qn.store %zero, %out : f32, !qn.tensor<f32, [S, N:1]>
  %r = qn.index R
  %v = qn.load %i : !qn.tensor<i64, [R, C:1]>
  %c = qn.index C
  %e = qn.load %x[%r, %c] checked : !qn.tensor<f32, [Q, D:1]>
  qn.scatter %e to %out[%r, %v] over [R, C] checked : f32 to !qn.tensor<f32, [S, N:1]> {
  }
}
