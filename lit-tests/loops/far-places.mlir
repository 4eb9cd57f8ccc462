// Where a launch stores past the caches, or reduces parts of an axis, lanes of
// places apart are read one after the other: processors do not foresee what a
// gather reads. Lanes without a place read the packet. Elsewhere they are
// gathered.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s

// CHECK-LABEL: llvm.func @picked_task
// CHECK: %[[NOWHERE:.*]] = vector.broadcast %arg0 : !llvm.ptr to vector<8x!llvm.ptr>
// CHECK: %[[PLACES:.*]] = arith.select %[[GOOD:.*]], %{{.*}}, %[[NOWHERE]]
// CHECK: %[[PLACE:.*]] = llvm.extractelement %[[PLACES]][%c0_i64
// CHECK-NEXT: %[[FIRST:.*]] = llvm.load %[[PLACE]] {{.*}} -> f32
// CHECK-NEXT: llvm.insertelement %[[FIRST]]
// CHECK-COUNT-7: llvm.extractelement
// CHECK: arith.select %[[GOOD]]
// CHECK: nontemporal
// CHECK-NOT: llvm.extractelement
// CHECK: llvm.intr.masked.gather
qn.rowwise @picked axes [R, N] (%x: !qn.tensor<f32, [R, N]>,
    %i: !qn.tensor<i64, [R:1]>, %out: !qn.tensor<f32, [R:1]>) {
  %r = qn.index R
  %at = qn.load %i : !qn.tensor<i64, [R:1]>
  %v = qn.load %x[%r, %at] checked : !qn.tensor<f32, [R, N]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R:1]>
}
