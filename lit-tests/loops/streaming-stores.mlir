// Results larger than the caches are stored past them, where they are aligned.
// RUN: quern-opt %s --qn-to-loops=target=x86-64-v3 | FileCheck %s

// CHECK-LABEL: llvm.func @copy_task
// CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint
// CHECK: scf.if
// CHECK: llvm.store {{.*}} {alignment = 32 : i64, nontemporal}
// CHECK: llvm.call_intrinsic "llvm.x86.sse.sfence"
// CHECK: } else {
// CHECK-NOT: nontemporal
// CHECK: llvm.store {{.*}} {alignment = 4 : i64}
qn.rowwise @copy axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
}

// With rows their strides are aligned as well.
// CHECK-LABEL: llvm.func @shifted_task
// CHECK: %[[STRIDE:.*]] = arith.muli %{{.*}}, %c4_i64
// CHECK: arith.ori %{{.*}}, %[[STRIDE]]
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
