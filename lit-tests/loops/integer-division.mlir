// Lanes of integers are divided as floats: 32 bits as doubles, 64 bits too
// where every lane is small enough to be exact. One divisor for all lanes is
// divided by once.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s

// CHECK-LABEL: llvm.func @narrow_task
// CHECK: arith.divf {{.*}} : vector<8xf64>
// CHECK: arith.fptosi {{.*}} : vector<8xf64> to vector<8xi32>
qn.rowwise @narrow axes [N] (%a: !qn.tensor<i32, [N:1]>,
    %b: !qn.tensor<i32, [N:1]>, %out: !qn.tensor<i32, [N:1]>) {
  %x = qn.load %a : !qn.tensor<i32, [N:1]>
  %y = qn.load %b : !qn.tensor<i32, [N:1]>
  %q = arith.divsi %x, %y : i32
  qn.store %q, %out : i32, !qn.tensor<i32, [N:1]>
}

// CHECK-LABEL: llvm.func @wide_task
// CHECK: %[[SMALL:.*]] = vector.reduction <and>
// CHECK: scf.if %[[SMALL]]
// CHECK: %[[EXACT:.*]] = arith.divf {{.*}} : vector<4xf64>
// CHECK: math.trunc %[[EXACT]]
// CHECK: } else {
// CHECK: arith.divsi {{.*}} : vector<4xi64>
qn.rowwise @wide axes [N] (%a: !qn.tensor<i64, [N:1]>,
    %b: !qn.tensor<i64, [N:1]>, %out: !qn.tensor<i64, [N:1]>) {
  %x = qn.load %a : !qn.tensor<i64, [N:1]>
  %y = qn.load %b : !qn.tensor<i64, [N:1]>
  %q = arith.divsi %x, %y : i64
  qn.store %q, %out : i64, !qn.tensor<i64, [N:1]>
}

// CHECK-LABEL: llvm.func @uniform_task
// CHECK: math.copysign
// CHECK: arith.divf {{.*}} : f64
// CHECK: arith.mulf {{.*}} : vector<8xf64>
// CHECK: arith.fptosi {{.*}} : vector<8xf64> to vector<8xi32>
qn.rowwise @uniform axes [M, N] (%a: !qn.tensor<i32, [M, N:1]>,
    %b: !qn.tensor<i32, [M:1]>, %out: !qn.tensor<i32, [M, N:1]>) {
  %x = qn.load %a : !qn.tensor<i32, [M, N:1]>
  %y = qn.load %b : !qn.tensor<i32, [M:1]>
  %q = arith.divsi %x, %y : i32
  qn.store %q, %out : i32, !qn.tensor<i32, [M, N:1]>
}
