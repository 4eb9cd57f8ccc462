// Rows that are read twice and then written go past the caches, and ask for the
// next row meanwhile.
// What masked lanes ask for (masked-lanes.mlir) is left out here.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | sed '/\[4096\]/,+1d' | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s --check-prefix=ALSO

// Bytes are those of whole rows; long ones, which fill the first cache (4096 of
// 8 bytes), go past the caches from three quarters of the last one on, here of
// 16 MiB, others from five. Sums and the rest of a row are there once.
// CHECK-LABEL: llvm.func @center_task
// CHECK: %[[LONG:.*]] = arith.cmpi uge, %[[C:.*]], %c4096_i64
// CHECK: %[[LIMIT:.*]] = arith.select %[[LONG]], %c12582912_i64, %c20971520_i64
// CHECK: %[[ROWS:.*]] = arith.muli %c8_i64, %[[R:.*]] :
// CHECK: %[[BYTES:.*]] = arith.muli %[[ROWS]], %[[C]]
// CHECK: %[[LARGE:.*]] = arith.cmpi ugt, %[[BYTES]], %[[LIMIT]]
// CHECK: %[[PAST:.*]] = arith.andi %{{.*}}, %[[LARGE]]
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: %[[END:.*]] = arith.select %[[PAST]]
// CHECK: scf.for {{.*}} to %[[END]] step %c16_i64
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %c1_i64
// CHECK: arith.muli %[[NEXT]]
// CHECK-NEXT: %[[LINE:.*]] = llvm.getelementptr
// CHECK-NEXT: "llvm.intr.prefetch"(%[[LINE]]) {{.*}}hint = 2
// CHECK: nontemporal
// CHECK-NOT: nontemporal
// CHECK-NOT: prefetch
// CHECK: scf.if %[[PAST]]
// CHECK-NEXT: sfence
// ALSO-LABEL: llvm.func @center_task
// ALSO: llvm.store {{.*}}alignment = 32 : i64, nontemporal
qn.rowwise @center axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %zero = arith.constant 0.0 : f32
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %sum = qn.reduce(%v : f32) init(%zero : f32) over [C] step {
  ^bb0(%s: f32, %e: f32):
    %t = arith.addf %s, %e : f32
    qn.yield %t : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    qn.yield %t : f32
  }
  %d = arith.subf %v, %sum : f32
  qn.store %d, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// What is costly waits in the result, whose lines lie in the caches then: only
// the next row is asked for.
// CHECK-LABEL: llvm.func @soft_task
// CHECK: llvm.intr.prefetch
// CHECK-NOT: nontemporal
// CHECK: llvm.return
qn.rowwise @soft axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %zero = arith.constant 0.0 : f32
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %1 = arith.mulf %v, %v : f32
  %2 = arith.addf %1, %v : f32
  %3 = arith.mulf %2, %2 : f32
  %4 = arith.addf %3, %1 : f32
  %5 = arith.mulf %4, %4 : f32
  %6 = arith.addf %5, %3 : f32
  %7 = arith.mulf %6, %6 : f32
  %8 = arith.addf %7, %5 : f32
  %9 = arith.mulf %8, %8 : f32
  %e = arith.addf %9, %7 : f32
  %sum = qn.reduce(%e : f32) init(%zero : f32) over [C] step {
  ^bb0(%s: f32, %i: f32):
    %t = arith.addf %s, %i : f32
    qn.yield %t : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    qn.yield %t : f32
  }
  %d = arith.divf %e, %sum : f32
  qn.store %d, %out : f32, !qn.tensor<f32, [R, C:1]>
}

// Results that are no neighbours along the row are scattered, and stay.
// CHECK-LABEL: llvm.func @across_task
// CHECK-NOT: nontemporal
// CHECK-NOT: prefetch
// CHECK: llvm.return
qn.rowwise @across axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C]>) {
  %zero = arith.constant 0.0 : f32
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %sum = qn.reduce(%v : f32) init(%zero : f32) over [C] step {
  ^bb0(%s: f32, %e: f32):
    %t = arith.addf %s, %e : f32
    qn.yield %t : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    qn.yield %t : f32
  }
  %d = arith.subf %v, %sum : f32
  qn.store %d, %out : f32, !qn.tensor<f32, [R, C]>
}
