// A scan along the lanes is a tree inside of each vector and a carried state;
// one against the direction of memory, or across rows, goes position by position.
// RUN: quern-opt %s --split-input-file --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s

// CHECK-LABEL: llvm.func @along_task
// CHECK: scf.for {{.*}} iter_args(%[[CARRY:.*]] = %{{.*}}) -> (f32)
// CHECK: vector.shuffle {{.*}} [0, 8, 9, 10, 11, 12, 13, 14]
// CHECK: vector.shuffle {{.*}} [0, 1, 8, 9, 10, 11, 12, 13]
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 8, 9, 10, 11]
// CHECK: vector.broadcast %[[CARRY]]
// CHECK: vector.extract {{.*}}[7]
qn.rowwise @along axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %s = qn.scan (%v : f32) init (%zero : f32) over C step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// -----

// CHECK-LABEL: llvm.func @across_task
// CHECK: scf.for {{.*}} -> (vector<8xf32>
// CHECK-NOT: vector.shuffle
// CHECK: llvm.store {{.*}} : vector<8xf32>
qn.rowwise @across axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %s = qn.scan (%v : f32) init (%zero : f32) over R reverse step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [R, C:1]>
}
