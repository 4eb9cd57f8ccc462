// An operand whose neighbours lie across the lanes is read along them, and
// transposed in registers.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s --check-prefix=WIDE

// WIDE-LABEL: llvm.func @add_task
// WIDE: else
// WIDE-COUNT-16: "llvm.intr.prefetch"
// WIDE: llvm.func @add_1_plan

// A tile is four squares wide and long along the lanes, and squares follow each
// other along the lanes: the results are written in runs.
// Past the caches, what lies 256 bytes further along the operand's lines is asked
// for, into the second cache.
// They go past the caches from three quarters of the last one on: here 6 of 8
// MiB, operands of 12 bytes a position.
// CHECK-LABEL: llvm.func @add_task
// CHECK: arith.cmpi ugt, %{{.*}}, %c6291456_i64
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c256_i64
// CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %c32_i64
// CHECK: scf.for {{.*}} = %[[ROWS]] to {{.*}} step %c8_i64
// CHECK: scf.for {{.*}} = %[[FIRST]] to {{.*}} step %c8_i64
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK: llvm.load %[[LINE:[0-9]+]] {{.*}} -> vector<8xf32>
// CHECK-NEXT: %[[BEHIND:.*]] = llvm.getelementptr %[[LINE]][%c64_i64]
// CHECK-NEXT: "llvm.intr.prefetch"(%[[BEHIND]]) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK-COUNT-7: llvm.load {{.*}} -> vector<8xf32>
// CHECK-COUNT-24: vector.shuffle
// CHECK-NOT: gather
// CHECK-COUNT-8: llvm.store {{.*}} : vector<8xf32>
// In the caches nothing is asked for, where a line of them is two squares'.
// CHECK: else
// CHECK-NOT: prefetch
// CHECK: llvm.func @add_1_plan
qn.rowwise @add axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %y: !qn.tensor<f32, [R:1, C]>, %out: !qn.tensor<f32, [R, C:1]>) {
  %a = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %b = qn.load %y : !qn.tensor<f32, [R:1, C]>
  %s = arith.addf %a, %b : f32
  qn.store %s, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// Squares of bytes have 16 lanes: the code of a square grows with its area. Two
// of them lie side by side in a vector and are turned together. Lines are read by
// whole vectors, which ask for the next one; what two squares hold waits in
// memory, and they follow each other along the line.
// CHECK-LABEL: llvm.func @bytes_task
// CHECK: llvm.alloca %c32_i64 x vector<32xi8>
// CHECK: scf.for {{.*}} step %c32_i64
// CHECK: scf.for {{.*}} step %c32_i64
// CHECK: scf.for {{.*}} = %c0_i64 to %c16_i64
// CHECK: llvm.load %[[VECTOR:[0-9]+]] {{.*}} -> vector<32xi8>
// CHECK-NEXT: %[[NEXT:.*]] = llvm.getelementptr %[[VECTOR]][%c32_i64{{.*}}]
// CHECK-NEXT: "llvm.intr.prefetch"(%[[NEXT]])
// CHECK: llvm.load {{.*}} -> vector<32xi8>
// CHECK-COUNT-2: vector.shuffle {{.*}} : vector<32xi8>, vector<32xi8>
// CHECK-COUNT-2: llvm.store {{.*}} : vector<32xi8>
// CHECK: scf.for {{.*}} step %c16_i64
// CHECK-COUNT-16: llvm.load {{.*}} {alignment = 32 : i64} : !llvm.ptr -> vector<32xi8>
// CHECK-COUNT-64: vector.shuffle {{.*}} : vector<32xi8>, vector<32xi8>
// CHECK-COUNT-16: llvm.store {{.*}} : vector<32xi8>
// What is left of the lines goes by squares of their own.
// CHECK-COUNT-32: llvm.load {{.*}} -> vector<16xi8>
// CHECK-COUNT-16: vector.shuffle {{.*}} : vector<16xi8>, vector<16xi8>
// CHECK-COUNT-64: vector.shuffle {{.*}} : vector<32xi8>, vector<32xi8>
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-16: llvm.store {{.*}} : vector<32xi8>

// In the caches lines that lie no multiple of 64 bytes apart go by those alone.
// CHECK: else
// CHECK: arith.andi %{{.*}}, %c63_i64
// CHECK: %[[MEET:.*]] = arith.cmpi eq
// CHECK: arith.select %[[MEET]]

// Lanes behind the end read the last line that is there.
// WIDE-LABEL: llvm.func @bytes_task
// WIDE: math.ctpop
// WIDE: scf.for {{.*}} = %c0_i64 to %c16_i64
// WIDE: arith.minui
// WIDE: llvm.load {{.*}} -> vector<64xi8>
// WIDE-COUNT-16: llvm.intr.masked.store
qn.rowwise @bytes axes [R, C] (%x: !qn.tensor<i8, [R, C:1]>,
    %y: !qn.tensor<i8, [R:1, C]>, %out: !qn.tensor<i8, [R, C:1]>) {
  %a = qn.load %x : !qn.tensor<i8, [R, C:1]>
  %b = qn.load %y : !qn.tensor<i8, [R:1, C]>
  %s = arith.addi %a, %b : i8
  qn.store %s, %out : i8, !qn.tensor<i8, [R, C:1]>
}

// A copy has its lanes along the result: loads can be turned, stores not.
// CHECK-LABEL: llvm.func @copied_task
// CHECK-COUNT-24: vector.shuffle
// CHECK-NOT: scatter
// CHECK: llvm.func @copied_1_plan
qn.rowwise @copied axes [C, R] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [C, R:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C, R:1]>
}

// So do sums of several operands that lie across it.
// CHECK-LABEL: llvm.func @both_task
// CHECK-COUNT-48: vector.shuffle
// CHECK-NOT: scatter
// CHECK: llvm.func @both_1_plan
qn.rowwise @both axes [R, C] (%x: !qn.tensor<f32, [R:1, C]>,
    %y: !qn.tensor<f32, [R:1, C]>, %out: !qn.tensor<f32, [R, C:1]>) {
  %a = qn.load %x : !qn.tensor<f32, [R:1, C]>
  %b = qn.load %y : !qn.tensor<f32, [R:1, C]>
  %s = arith.addf %a, %b : f32
  qn.store %s, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// CHECK-LABEL: llvm.func @other_order_task
// CHECK-COUNT-24: vector.shuffle
// CHECK-NOT: scatter
// CHECK: llvm.func @other_order_1_plan
qn.rowwise @other_order axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [C, R:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C, R:1]>
}

// Truth values are turned as the bytes that they are in memory.
// CHECK-LABEL: llvm.func @truths_task
// CHECK-COUNT-64: vector.shuffle {{.*}} : vector<32xi8>, vector<32xi8>
// CHECK-NOT: vector<32xi1>, vector<32xi1>
// CHECK: llvm.func @truths_1_plan
qn.rowwise @truths axes [R, C] (%x: !qn.tensor<i1, [R:1, C]>,
    %out: !qn.tensor<i1, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<i1, [R:1, C]>
  qn.store %v, %out : i1, !qn.tensor<i1, [R, C:1]>
}
