// A position that bends close by, as at an edge: what lies around the first
// lane's place is read whole, and permuted where every lane that counts lies in
// it; the rest of a row does so too.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 \
// RUN:   | FileCheck %s --check-prefix=V3

// CHECK-LABEL: llvm.func @edge_task
// CHECK: %[[FIRST:.*]] = vector.extract %[[PLACES:.*]][0] : i64
// CHECK: %[[LOW:.*]] = arith.subi %[[FIRST]]
// CHECK: %[[BASE:.*]] = arith.maxsi %[[LOW]]
// CHECK: %[[CLOSE:.*]] = arith.cmpi ult, %{{.*}} : vector<16xi64>
// CHECK: vector.reduction <and>
// CHECK: scf.if %{{.*}} -> (vector<16xf32>) {
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.load
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// CHECK: } else {
// CHECK: llvm.intr.masked.gather
// V3-LABEL: llvm.func @edge_task
// V3-NOT: vpermi2var
qn.rowwise @edge axes [R, W, Q]
    (%x: !qn.tensor<f32, [R, W:1]>, %left: i64,
    %out: !qn.tensor<f32, [R, Q:1]>) {
  %zero = arith.constant 0 : i64
  %r = qn.index R
  %q = qn.index Q
  %at = arith.subi %q, %left : i64
  %place = arith.maxsi %at, %zero : i64
  %a = qn.load %x[%r, %place] checked : !qn.tensor<f32, [R, W:1]>
  qn.store %a, %out : f32, !qn.tensor<f32, [R, Q:1]>
}

// Where a place is read from memory, lanes may be anywhere.
// CHECK-LABEL: llvm.func @picked_task
// CHECK-NOT: vpermi2var
// CHECK: llvm.intr.masked.gather
qn.rowwise @picked axes [R, W, Q]
    (%x: !qn.tensor<f32, [R, W:1]>, %i: !qn.tensor<i64, [Q:1]>,
    %out: !qn.tensor<f32, [R, Q:1]>) {
  %r = qn.index R
  %place = qn.load %i : !qn.tensor<i64, [Q:1]>
  %a = qn.load %x[%r, %place] checked : !qn.tensor<f32, [R, W:1]>
  qn.store %a, %out : f32, !qn.tensor<f32, [R, Q:1]>
}

// Small floats that are only moved have as many lanes as fit, and are picked as
// bits.
// CHECK-LABEL: llvm.func @small_task
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.hi.512"{{.*}}vector<32xi16>
qn.rowwise @small axes [W, Q]
    (%x: !qn.tensor<bf16, [W:1]>, %left: i64, %out: !qn.tensor<bf16, [Q:1]>) {
  %zero = arith.constant 0 : i64
  %q = qn.index Q
  %at = arith.subi %q, %left : i64
  %place = arith.maxsi %at, %zero : i64
  %a = qn.load %x[%place] checked : !qn.tensor<bf16, [W:1]>
  qn.store %a, %out : bf16, !qn.tensor<bf16, [Q:1]>
}
