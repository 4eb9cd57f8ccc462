// Lines of two, three or four channels are read as whole vectors and
// deinterleaved.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 | FileCheck %s --check-prefix=WHEN

// WHEN: %[[TWO:.*]] = arith.cmpi sge, %[[LINE:.*]], %c2_i64
// WHEN: %[[FOUR:.*]] = arith.cmpi sle, %[[LINE]], %c4_i64
// WHEN: %[[SHORT:.*]] = arith.andi %[[TWO]], %[[FOUR]]
// WHEN: qn.dispatch stores when %{{.*}} turned C {{.*}} deinterleave
// CHECK-LABEL: llvm.func @apart_task
// CHECK-NOT: vector.shuffle {{.*}} [0, 2, 4,
// CHECK-LABEL: llvm.func @apart_2_task
// CHECK-COUNT-2: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: } else {
// CHECK-COUNT-6: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: } else {
// CHECK-COUNT-12: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: } else {
qn.rowwise @apart axes [C, N] (%x: !qn.tensor<f32, [C:1, N]>,
    %out: !qn.tensor<f32, [C, N:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1, N]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C, N:1]>
}
