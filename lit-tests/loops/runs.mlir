// Where lanes lie along what stays, an accumulator takes one element after the
// other. What 256 steps made is merged into states of its own; fewer are not
// merged at all.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s

// CHECK-LABEL: llvm.func @norm_task
// CHECK: %[[EACH:.*]] = arith.constant 256 : i64
// CHECK: %[[ALL:.*]]:10 = scf.for %[[FROM:.*]] = {{.*}} to %[[END:.*]] step %[[EACH]] iter_args(%[[TOTAL:[^ ]*]] = {{.*}}, %[[STEPS:[^ ]*]] = %c0_i64, %[[ANY:[^ ]*]] = %false)
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[FROM]]
// CHECK: %[[TAKEN:.*]] = arith.minsi %[[LEFT]], %[[EACH]]
// CHECK: %[[TO:.*]] = arith.addi %[[FROM]], %[[TAKEN]]
// CHECK: %[[NOW:.*]]:4 = scf.for {{.*}} = %[[FROM]] to %[[TO]] step %c1_i64
// CHECK: %[[DONE:.*]] = arith.addi %[[STEPS]], %[[TAKEN]]
// CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %[[DONE]], %[[EACH]]
// CHECK: scf.if %[[WHOLE]]
// CHECK: arith.addf %[[TOTAL]], %[[NOW]]#0
// CHECK: scf.yield {{.*}}, %c0_i64, %true
// CHECK: else
// CHECK: scf.yield %[[TOTAL]], {{.*}}, %[[NOW]]#0, %[[NOW]]#1, %[[NOW]]#2, %[[NOW]]#3, %[[DONE]], %[[ANY]]
// CHECK: scf.if %[[ALL]]#9
// CHECK: arith.addf %[[ALL]]#0, %[[ALL]]#4
// CHECK: else
// CHECK: scf.yield %[[ALL]]#4, %[[ALL]]#5, %[[ALL]]#6, %[[ALL]]#7
qn.rowwise @norm axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%v : f32) init (%zero : f32) over [R] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  %d = arith.subf %v, %s : f32
  qn.store %d, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// The largest element rounds nothing, lanes along the reduced axis are merged
// anyway, and a portable order is its own.
// CHECK-LABEL: llvm.func @exact_task
// CHECK-NOT: scf.if
// CHECK-LABEL: llvm.func @along_task
// CHECK-NOT: scf.if
qn.rowwise @exact axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%v : f32) init (%zero : f32) over [R] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.maximumf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.maximumf %a, %b : f32
    qn.yield %n : f32
  }
  %d = arith.subf %v, %s : f32
  qn.store %d, %out : f32, !qn.tensor<f32, [R, C:1]>
}

qn.rowwise @along axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%v : f32) init (%zero : f32) over [C] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [R]>
}
