// Images with a few channels side by side are read whole and taken apart, where
// the first call had such: two, three or four of them by their number.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @apart_task
// CHECK-COUNT-2: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: } else {
// CHECK-COUNT-6: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: } else {
// CHECK-COUNT-12: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: } else {
qn.rowwise @apart axes [C, N] short (%x: !qn.tensor<f32, [C:1, N]>,
    %out: !qn.tensor<f32, [C, N:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1, N]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C, N:1]>
}

// CHECK-LABEL: llvm.func @squares_task
// CHECK-NOT: vector.shuffle {{.*}} [0, 2, 4,
qn.rowwise @squares axes [C, N] (%x: !qn.tensor<f32, [C:1, N]>,
    %out: !qn.tensor<f32, [C, N:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1, N]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C, N:1]>
}
