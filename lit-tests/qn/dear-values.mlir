// A root along the lanes becomes a launch of its own; what is made of every row stays.
// RUN: quern-opt %s --qn-stage-dear | FileCheck %s

// CHECK: staged 1
// CHECK: %[[ROOT:.*]] = math.sqrt
// CHECK-NEXT: qn.store %[[ROOT]], %[[STAGED:arg[0-9]+]]
// CHECK-NEXT: %[[READ:.*]] = qn.load %[[STAGED]]
// CHECK: arith.mulf %{{.*}}, %[[READ]]
// CHECK: math.sqrt
// CHECK-NOT: qn.load %[[STAGED]]
qn.rowwise @scaled axes [M, N] (%x: !qn.tensor<f32, [M, N:1]>, %scale: !qn.tensor<f32, [M:0, N:1]>,
    %out: !qn.tensor<f32, [M, N:1]>) {
  %0 = qn.load %x : <f32, [M, N:1]>
  %1 = qn.load %scale : <f32, [M:0, N:1]>
  %2 = math.sqrt %1 : f32
  %3 = arith.mulf %0, %2 : f32
  %4 = math.sqrt %3 : f32
  qn.store %4, %out : f32, <f32, [M, N:1]>
}
