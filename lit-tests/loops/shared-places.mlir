// Places that lanes compute are made once for four rows that share them. Little
// is shared here: past the caches tiles have no more rows.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v3 --qn-to-loops=target=x86-64-v3 | FileCheck %s

// CHECK-LABEL: llvm.func @mirrored_plan
// CHECK: %[[FITS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK-NEXT: arith.select %[[FITS]], %c16_i64, %c4_i64
// CHECK-LABEL: llvm.func @mirrored_task
// CHECK: scf.for
// CHECK: arith.select {{.*}} : vector<8xi1>, vector<8xi64>
// CHECK-NOT: arith.select {{.*}} : vector<8xi1>, vector<8xi64>
// CHECK-COUNT-32: llvm.extractelement
qn.rowwise @mirrored axes [R, W, Q]
    (%x: !qn.tensor<f32, [R, W]>, %left: i64,
    %out: !qn.tensor<f32, [R, Q:1]>) {
  %zero = arith.constant 0 : i64
  %r = qn.index R
  %q = qn.index Q
  %at = arith.subi %q, %left : i64
  %minus = arith.subi %zero, %at : i64
  %low = arith.cmpi slt, %at, %zero : i64
  %place = arith.select %low, %minus, %at : i64
  %a = qn.load %x[%r, %place] : !qn.tensor<f32, [R, W]>
  qn.store %a, %out : f32, !qn.tensor<f32, [R, Q:1]>
}
