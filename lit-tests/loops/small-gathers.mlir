// What is smaller than a word is gathered by the words it lies in, counted from
// an address that is a multiple of four, where the target gathers; and shifted.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 \
// RUN:   | FileCheck %s --check-prefix=V3

// CHECK-LABEL: llvm.func @halves_task
// CHECK: llvm.getelementptr %[[FROM:.*]][%{{.*}}] : {{.*}} -> vector<8x!llvm.ptr>, i16
// CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[FROM]] : !llvm.ptr to i64
// CHECK: arith.andi %[[ADDRESS]], %{{.*}} : i64
// CHECK: %[[BASE:.*]] = llvm.getelementptr %[[FROM]]
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}} : vector<8xi32>
// CHECK: %[[WORD:.*]] = arith.shrsi %[[PLACE]]
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[BASE]][%[[WORD]]]
// CHECK: %[[READ:.*]] = llvm.intr.masked.gather %[[AT]]{{.*}} -> vector<8xi32>
// At odd addresses an element may lie in two words.
// CHECK: scf.if
// CHECK: llvm.intr.masked.gather
// CHECK: arith.ori
// CHECK: } else {
// CHECK: %[[HALF:.*]] = arith.shrui %[[READ]]
// CHECK: scf.yield %[[HALF]]
// CHECK: arith.trunci %{{.*}} : vector<8xi32> to vector<8xi16>
// V3-LABEL: llvm.func @halves_task
// V3: llvm.intr.masked.gather {{.*}} -> vector<4xi16>
qn.rowwise @halves axes [W, Q] (%x: !qn.tensor<i16, [W:1]>,
    %i: !qn.tensor<i64, [Q:1]>, %out: !qn.tensor<i16, [Q:1]>) {
  %at = qn.load %i : !qn.tensor<i64, [Q:1]>
  %a = qn.load %x[%at] checked : !qn.tensor<i16, [W:1]>
  qn.store %a, %out : i16, !qn.tensor<i16, [Q:1]>
}
