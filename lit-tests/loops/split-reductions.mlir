// A reduction of everything is shared: parts into the workspace, their merge,
// then the store.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @sum_task
// The states of a part go to its place behind the results.
// CHECK: vector.shuffle
// CHECK: llvm.getelementptr %{{.*}}[8]
// CHECK: llvm.store {{.*}} : f32
// CHECK-LABEL: llvm.func @sum_1_plan
// CHECK-LABEL: llvm.func @sum_1_task
// CHECK: scf.for {{.*}} iter_args
// CHECK: arith.addf {{.*}} : f32
// CHECK-LABEL: llvm.func @sum_2_task
// CHECK-NOT: iter_args
// CHECK: llvm.store {{.*}} : f32
qn.rowwise @sum axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, []>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
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
  qn.store %s, %out : f32, !qn.tensor<f32, []>
}
