// A portable reduction has one accumulator, whatever the vector width.
// RUN: quern-opt %s --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-to-loops=target=x86-64-v2 | FileCheck %s

// CHECK-LABEL: llvm.func @sum_task
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32)
// CHECK-NOT: vector
// CHECK: llvm.return
qn.rowwise @sum axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
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
