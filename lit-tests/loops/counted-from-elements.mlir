// A count that begins with an element of its own in each lane is no number for
// all of them.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @mean_task
// CHECK-NOT: vector.extract
// CHECK: arith.divf {{.*}} : vector<16xf32>
qn.rowwise @mean axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %start: !qn.tensor<f32, [C:1]>, %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %from = qn.load %start : !qn.tensor<f32, [C:1]>
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %m:2 = qn.reduce (%v : f32) init (%zero, %from : f32, f32) over [R] step {
  ^bb0(%mean: f32, %count: f32, %e: f32):
    %n = arith.addf %count, %one : f32
    %d = arith.subf %e, %mean : f32
    %q = arith.divf %d, %n : f32
    %now = arith.addf %mean, %q : f32
    qn.yield %now, %n : f32, f32
  } merge {
  ^bb0(%a: f32, %n: f32, %b: f32, %k: f32):
    %all = arith.addf %n, %k : f32
    %d = arith.subf %b, %a : f32
    %w = arith.mulf %d, %k : f32
    %q = arith.divf %w, %all : f32
    %now = arith.addf %a, %q : f32
    qn.yield %now, %all : f32, f32
  }
  qn.store %m#0, %out : f32, !qn.tensor<f32, [C:1]>
}
