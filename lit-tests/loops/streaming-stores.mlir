// Results larger than the caches are stored past them, where they are aligned.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s --check-prefix=MASKS

// From the last cache on: here 8 MiB, operands of 8 bytes a position. What does
// not go past the caches, and the rest, is there once.
// CHECK-LABEL: llvm.func @copy_task
// CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint
// CHECK: %[[BYTES:.*]] = arith.muli %c8_i64, %{{.*}}
// CHECK: %[[LARGE:.*]] = arith.cmpi ugt, %[[BYTES]], %c8388608_i64
// CHECK: %[[PAST:.*]] = arith.andi %{{.*}}, %[[LARGE]]
// CHECK: %[[END:.*]] = arith.select %[[PAST]], %{{.*}}, %[[BEGIN:.*]] :
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c8_i64
// CHECK: llvm.store {{.*}} {alignment = 32 : i64, nontemporal}
// CHECK: scf.for %{{.*}} = %[[END]] to
// CHECK-COUNT-2: llvm.store {{.*}} {alignment = 4 : i64} {{.*}}vector<8xf32>
// CHECK-NOT: nontemporal
// CHECK: scf.if %[[PAST]]
// CHECK-NEXT: llvm.call_intrinsic "llvm.x86.sse.sfence"
qn.rowwise @copy axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
}

// With rows their strides are aligned as well.
// Of a row's rest the whole vectors go past the caches too.
// MASKS-LABEL: llvm.func @shifted_task
// MASKS: scf.for {{.*}} step %c64_i64
// MASKS-COUNT-4: nontemporal
// MASKS: scf.for {{.*}} step %c16_i64
// MASKS-COUNT-1: nontemporal
// MASKS: scf.for {{.*}} step %c16_i64
// MASKS: llvm.intr.masked.store
// MASKS: } else {
// MASKS-NOT: nontemporal
// MASKS: llvm.func @bytes_plan
// A row that all rows read is there once.
// CHECK-LABEL: llvm.func @shifted_task
// CHECK: %[[STRIDE:.*]] = arith.muli %{{.*}}, %c4_i64
// CHECK: arith.ori %{{.*}}, %[[STRIDE]]
// CHECK: %[[ROWS:.*]] = arith.muli %c8_i64, %{{.*}}
// CHECK: %[[WHOLE:.*]] = arith.muli %[[ROWS]], %[[COLUMNS:.*]] :
// CHECK: %[[ROW:.*]] = arith.muli %c4_i64, %[[COLUMNS]] :
// CHECK: %[[BYTES:.*]] = arith.addi %[[WHOLE]], %[[ROW]] :
// CHECK: arith.cmpi ugt, %[[BYTES]]
// CHECK: scf.if
// CHECK: llvm.store {{.*}} {alignment = 32 : i64, nontemporal}
// CHECK: } else {
// CHECK-NOT: nontemporal
qn.rowwise @shifted axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %b: !qn.tensor<f32, [C:1]>, %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %w = qn.load %b : !qn.tensor<f32, [C:1]>
  %s = arith.addf %v, %w : f32
  qn.store %s, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// Squares of transposed bytes lie side by side, as many as fill a vector: no
// pieces of lines are stored.
// CHECK-LABEL: llvm.func @bytes_task
// CHECK: llvm.store {{.*}}nontemporal{{.*}} : vector<32xi8>
qn.rowwise @bytes axes [R, C] (%x: !qn.tensor<i8, [R:1, C]>,
    %out: !qn.tensor<i8, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<i8, [R:1, C]>
  qn.store %v, %out : i8, !qn.tensor<i8, [R, C:1]>
}
