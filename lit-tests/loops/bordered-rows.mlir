// Rows that share which lanes lie inside, or what the lanes compute of their
// places, are walked within a vector of lanes: it has them once.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @bordered_task
// CHECK: scf.for {{.*}} step %c16_i64
// CHECK: scf.for {{.*}} step %c4_i64
// CHECK-COUNT-4: llvm.intr.masked.load {{.*}} vector<16xf32>
// CHECK-NOT: scf.for {{.*}} step %c16_i64
// CHECK: llvm.store {{.*}} vector<16xf32>
qn.rowwise @bordered axes [B, W, Q] (%x: !qn.tensor<f32, [B, W:1]>,
    %left: i64, %out: !qn.tensor<f32, [B, Q:1]>) {
  %zero = arith.constant 0.0 : f32
  %b = qn.index B
  %q = qn.index Q
  %at = arith.subi %q, %left : i64
  %a = qn.load %x[%b, %at] outside %zero : f32 : !qn.tensor<f32, [B, W:1]>
  qn.store %a, %out : f32, !qn.tensor<f32, [B, Q:1]>
}
