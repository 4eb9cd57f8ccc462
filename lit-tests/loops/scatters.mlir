// A scatter is a launch behind the stores; tasks and lanes share it only along
// axes that lead to places of their own.
// RUN: quern-opt %s --split-input-file --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK: llvm.func @add_task
// CHECK: llvm.func @add_1_plan
// CHECK-LABEL: llvm.func @add_1_task
// Lanes along D, the rows in source order inside.
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// An index that all lanes share is looked at once for four vectors. A bad one
// is noted, and nothing is written there.
// CHECK: %[[GOOD:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i64
// CHECK: scf.if
// CHECK: scf.if %[[GOOD]]
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK-COUNT-4: arith.addf {{.*}} : vector<16xf32>
// The rest, by masks.
// CHECK: scf.if
// CHECK: llvm.intr.masked.load
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: llvm.intr.masked.store
qn.rowwise @add axes [V, N, D] (%i: !qn.tensor<i64, [N:1]>,
    %x: !qn.tensor<f32, [N, D:1]>, %out: !qn.tensor<f32, [V, D:1]>) {
  %zero = arith.constant 0.0 : f32
  qn.store %zero, %out : f32, !qn.tensor<f32, [V, D:1]>
  %v = qn.load %i : !qn.tensor<i64, [N:1]>
  %d = qn.index D
  %e = qn.load %x : !qn.tensor<f32, [N, D:1]>
  qn.scatter %e to %out[%v, %d] checked : f32 to !qn.tensor<f32, [V, D:1]> {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
}

// -----

// The loops of a scatter carry a scan along their innermost axis.
// CHECK-LABEL: llvm.func @squeeze_task
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (i64)
// CHECK: arith.addi %[[BEFORE]]
// CHECK: scf.if
qn.rowwise @squeeze axes [R, K, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<i64, [R, K:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i64
  %keep = arith.cmpf ogt, %v, %zero : f32
  %s = qn.scan (%keep : i1) init (%none : i64) over C exclusive step {
  ^bb0(%a: i64, %e: i1):
    %w = arith.extui %e : i1 to i64
    %n = arith.addi %a, %w : i64
    qn.yield %n : i64
  } merge {
  ^bb0(%a: i64, %b: i64):
    %n = arith.addi %a, %b : i64
    qn.yield %n : i64
  }
  %r = qn.index R
  %i = qn.index C
  qn.scatter %i to %out[%r, %s] when %keep checked : i64 to !qn.tensor<i64, [R, K:1]> {
  }
}

// -----

// Lanes that write to places apart, as halves of complex elements are, do so
// one after the other where all are good; vectors with others are gathered.
// CHECK-LABEL: llvm.func @apart_1_task
// CHECK: vector.reduction <and>
// CHECK: scf.if
// CHECK-COUNT-16: arith.addf {{.*}} : f32
// CHECK: } else {
// CHECK: llvm.intr.masked.gather
// CHECK: llvm.intr.masked.scatter
qn.rowwise @apart axes [V, N, D] (%i: !qn.tensor<i64, [N:1]>,
    %x: !qn.tensor<complex<f32>, [N, D:1]>,
    %out: !qn.tensor<complex<f32>, [V, D:1]>) {
  %zero = arith.constant 0.0 : f32
  qn.store %zero, %out part 0 : f32, !qn.tensor<complex<f32>, [V, D:1]>
  qn.store %zero, %out part 1 : f32, !qn.tensor<complex<f32>, [V, D:1]>
  %v = qn.load %i : !qn.tensor<i64, [N:1]>
  %d = qn.index D
  %e = qn.load %x part 0 : !qn.tensor<complex<f32>, [N, D:1]>
  %f = qn.load %x part 1 : !qn.tensor<complex<f32>, [N, D:1]>
  qn.scatter %e, %f to %out[%v, %d] checked : f32, f32 to !qn.tensor<complex<f32>, [V, D:1]> {
  ^bb0(%a: f32, %b: f32, %c: f32, %g: f32):
    %n = arith.addf %a, %c : f32
    %m = arith.addf %b, %g : f32
    qn.yield %n, %m : f32, f32
  }
}
