// Reductions that keep the order of their elements: lanes hold neighbours, whose
// states are merged two by two.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s --check-prefix=REST

// One scalar state goes round; four vectors of an iteration become 32 pairs.
// CHECK-LABEL: @rows_task
// CHECK: %{{.*}}:2 = scf.for {{.*}} -> (f32, i32)
// CHECK-COUNT-4: llvm.load {{.*}} -> vector<16xf32>
// CHECK: vector.shuffle %[[A:.*]], %[[B:.*]] [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
// CHECK: vector.shuffle %[[A]], %[[B]] [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2] : vector<4xf32>
// CHECK: vector.extract %{{.*}}[1] : f32 from vector<2xf32>
// What is left has masks: neutral states where there is no element.
// CHECK: scf.for {{.*}} -> (f32, i32)
// CHECK: %[[MASK:.*]] = arith.cmpi slt
// CHECK: arith.select %[[MASK]]

// Without masks the rest follows vector by vector, then element by element.
// REST-LABEL: @rows_task
// REST: scf.for {{.*}} -> (f32, i32)
// REST: vector.shuffle
// REST: scf.for {{.*}} -> (f32, i32)
// REST: vector.shuffle
// REST: scf.for {{.*}} -> (f32, i32)
// REST-NOT: vector
// REST: scf.yield
qn.rowwise @rows axes [R, C]
    (%x: !qn.tensor<f32, [R, C:1]>, %out: !qn.tensor<f32, [R]>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %last, %n = qn.reduce(%v : f32) init(%zero, %none : f32, i32) over [C] ordered step {
  ^bb0(%s: f32, %i: i32, %e: f32):
    %one = arith.constant 1 : i32
    %m = arith.addi %i, %one : i32
    qn.yield %e, %m : f32, i32
  } merge {
  ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
    %nothing = arith.constant 0 : i32
    %some = arith.cmpi sgt, %j, %nothing : i32
    %r = arith.select %some, %b, %a : f32
    %m = arith.addi %i, %j : i32
    qn.yield %r, %m : f32, i32
  }
  qn.store %last, %out : f32, !qn.tensor<f32, [R]>
}
