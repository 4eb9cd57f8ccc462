// Positions that fall from lane to lane are read as a piece and turned round;
// where no lane asks nothing is read.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @mirrored_task
// CHECK-NOT: masked.gather
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[GOOD:.*]] : vector<16xi1>
// CHECK: scf.if %[[ANY]]
// CHECK: %[[LOWEST:.*]] = llvm.getelementptr %{{.*}}[%c-15_i64
// CHECK: %[[MASK:.*]] = vector.shuffle %[[GOOD]], %[[GOOD]] [15, 14, {{.*}}, 1, 0]
// CHECK: %[[RISING:.*]] = llvm.intr.masked.load %[[LOWEST]], %[[MASK]]
// CHECK: vector.shuffle %[[RISING]], %[[RISING]] [15, 14, {{.*}}, 1, 0]
// CHECK: } else {
// CHECK-NOT: load
// CHECK: scf.yield
qn.rowwise @mirrored axes [R, N, C] (%x: !qn.tensor<f32, [R, N:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i64
  %three = arith.constant 3 : i64
  %r = qn.index R
  %c = qn.index C
  %at = arith.subi %three, %c : i64
  %asks = arith.cmpi sgt, %c, %none : i64
  %v = qn.load %x[%r, %at] outside %zero : f32 when %asks : !qn.tensor<f32, [R, N:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
}
