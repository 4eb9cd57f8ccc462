// A position that bends, as of an edge: where the ends of a vector say that
// it does not bend between them, and both lie inside, neighbours are read in
// one piece; elsewhere every lane reads for itself, and is tested.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s

// CHECK-LABEL: llvm.func @edge_task
// CHECK: scf.for
// CHECK: %[[UP:.*]] = arith.cmpi eq, %[[APART:.*]], %{{.*}} : i64
// CHECK: %[[DOWN:.*]] = arith.cmpi eq, %[[APART]], %{{.*}} : i64
// CHECK: %[[EVEN:.*]] = arith.ori %[[UP]], %[[DOWN]] : i1
// CHECK: scf.if %{{.*}} -> (vector<8xf32>) {
// CHECK: %[[WHOLE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xf32>
// CHECK: %[[TURNED:.*]] = vector.shuffle %[[WHOLE]], %[[WHOLE]] [7, 6
// CHECK: arith.select %[[DOWN]], %[[TURNED]], %[[WHOLE]]
// CHECK: } else {
// CHECK: llvm.intr.masked.gather
qn.rowwise @edge axes [R, W, Q]
    (%x: !qn.tensor<f32, [R, W:1]>, %left: i64,
    %out: !qn.tensor<f32, [R, Q:1]>) {
  %zero = arith.constant 0 : i64
  %r = qn.index R
  %q = qn.index Q
  %at = arith.subi %q, %left : i64
  %place = arith.maxsi %at, %zero : i64
  %a = qn.load %x[%r, %place] checked : !qn.tensor<f32, [R, W:1]>
  qn.store %a, %out : f32, !qn.tensor<f32, [R, Q:1]>
}

// Of numbers without a sign the same holds: a place in front of the first is
// behind all others.
// CHECK-LABEL: llvm.func @wrap_task
// CHECK: arith.cmpi uge
// CHECK: arith.cmpi uge
// CHECK: scf.if %{{.*}} -> (vector<8xf32>) {
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<8xf32>
// CHECK: } else {
// CHECK: llvm.intr.masked.gather
qn.rowwise @wrap axes [R, W]
    (%x: !qn.tensor<f32, [R, W:1]>, %by: i64,
    %out: !qn.tensor<f32, [R, W:1]>) {
  %r = qn.index R
  %w = qn.index W
  %size = qn.size W
  %at = arith.subi %w, %by : i64
  %behind = arith.addi %at, %size : i64
  %place = arith.minui %at, %behind : i64
  %a = qn.load %x[%r, %place] : !qn.tensor<f32, [R, W:1]>
  qn.store %a, %out : f32, !qn.tensor<f32, [R, W:1]>
}
