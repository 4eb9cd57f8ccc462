// A root along the lanes becomes a launch of its own for calls in which it serves many rows;
// what is made of every row stays, and so does what takes few operations, or
// lies along the rows.
// RUN: quern-opt %s --qn-stage-dear | FileCheck %s

// CHECK-LABEL: @scaled.repeated axes [M, N] instead_of @scaled
// CHECK-SAME: when [#qn.extents<[N], 2, 65536>, #qn.extents<[M], 8, -1>] staged 1
// CHECK: %[[ROOT:.*]] = math.sqrt
// CHECK-NEXT: qn.store %[[ROOT]], %[[STAGED:arg[0-9]+]]
// CHECK-NEXT: %[[READ:.*]] = qn.load %[[STAGED]]
// CHECK: arith.mulf %{{.*}}, %[[READ]]
// CHECK: math.sqrt
// CHECK-NOT: qn.load %[[STAGED]]
// CHECK-LABEL: @scaled axes [M, N] (
// CHECK-NOT: qn.store
// CHECK: qn.store {{.*}} %arg2 :
qn.rowwise @scaled axes [M, N] (%x: !qn.tensor<f32, [M, N:1]>, %scale: !qn.tensor<f32, [M:0, N:1]>,
    %out: !qn.tensor<f32, [M, N:1]>) {
  %0 = qn.load %x : <f32, [M, N:1]>
  %1 = qn.load %scale : <f32, [M:0, N:1]>
  %2 = math.sqrt %1 : f32
  %3 = arith.mulf %0, %2 : f32
  %4 = math.sqrt %3 : f32
  qn.store %4, %out : f32, <f32, [M, N:1]>
}

// CHECK-LABEL: @cheap
// CHECK-NOT: staged
qn.rowwise @cheap axes [M, N] (%x: !qn.tensor<f32, [M, N:1]>,
    %scale: !qn.tensor<f32, [M:0, N:1]>, %out: !qn.tensor<f32, [M, N:1]>) {
  %0 = qn.load %x : <f32, [M, N:1]>
  %1 = qn.load %scale : <f32, [M:0, N:1]>
  %2 = arith.addf %1, %1 : f32
  %3 = arith.mulf %0, %2 : f32
  qn.store %3, %out : f32, <f32, [M, N:1]>
}

// CHECK-LABEL: @along_rows
// CHECK-NOT: staged
qn.rowwise @along_rows axes [M, N] (%x: !qn.tensor<f32, [M, N:1]>,
    %scale: !qn.tensor<f32, [M:1, N:0]>, %out: !qn.tensor<f32, [M, N:1]>) {
  %0 = qn.load %x : <f32, [M, N:1]>
  %1 = qn.load %scale : <f32, [M:1, N:0]>
  %2 = math.sqrt %1 : f32
  %3 = arith.mulf %0, %2 : f32
  qn.store %3, %out : f32, <f32, [M, N:1]>
}
