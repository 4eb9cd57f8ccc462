// Complex elements that are neighbours are read and written in pairs.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @swap_task
// CHECK-NOT: gather
// CHECK: %[[PAIRS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<32xf32>
// CHECK: vector.shuffle %[[PAIRS]], %[[PAIRS]] [1, 3, 5
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4
// CHECK: %[[OUT:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 16, 1, 17
// CHECK: llvm.store %[[OUT]]
// CHECK-NOT: scatter
// CHECK: llvm.return
qn.rowwise @swap axes [C]
    (%x: !qn.tensor<complex<f32>, [C:1]>,
    %out: !qn.tensor<complex<f32>, [C:1]>) {
  %re = qn.load %x part 0 : !qn.tensor<complex<f32>, [C:1]>
  %im = qn.load %x part 1 : !qn.tensor<complex<f32>, [C:1]>
  qn.store %im, %out part 0 : f32, !qn.tensor<complex<f32>, [C:1]>
  qn.store %re, %out part 1 : f32, !qn.tensor<complex<f32>, [C:1]>
}
