// Lines that follow each other in all operands are one line.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @copied_task
// CHECK: scf.if
// CHECK-NEXT: %[[LINE:.*]] = arith.muli %c1_i64, %[[C:.*]] :
// CHECK-NEXT: arith.cmpi eq, %{{.*}}, %[[LINE]]
// CHECK: %[[FOLLOW:.*]] = arith.andi
// CHECK-NEXT: scf.if %[[FOLLOW]]
// CHECK: %[[LENGTH:.*]] = arith.subi %[[UPPER:.*]], %[[LOWER:.*]] :
// CHECK: %[[REST:.*]] = arith.remui %[[LENGTH]], %c64_i64
// CHECK: %[[WHOLE:.*]] = arith.subi %[[UPPER]], %[[REST]]
// CHECK-NOT: iter_args
// CHECK: scf.for %{{.*}} = %[[LOWER]] to %[[WHOLE]] step %c64_i64
// CHECK-NOT: iter_args
// CHECK: } else {
// CHECK: scf.for {{.*}} iter_args
qn.rowwise @copied axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// What one operand says of whole lines, or a position, is not theirs alone.
// CHECK-LABEL: llvm.func @scaled_task
// CHECK: scf.if
// CHECK-NOT: arith.cmpi eq
// CHECK: scf.for {{.*}} iter_args
// CHECK-LABEL: llvm.func @numbered_task
// CHECK: scf.if
// CHECK-NOT: arith.cmpi eq
// CHECK: scf.for {{.*}} iter_args
qn.rowwise @scaled axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %s: !qn.tensor<f32, [R]>, %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %w = qn.load %s : !qn.tensor<f32, [R]>
  %p = arith.mulf %v, %w : f32
  qn.store %p, %out : f32, !qn.tensor<f32, [R, C:1]>
}

qn.rowwise @numbered axes [R, C] (%out: !qn.tensor<i64, [R, C:1]>) {
  %c = qn.index C
  qn.store %c, %out : i64, !qn.tensor<i64, [R, C:1]>
}
