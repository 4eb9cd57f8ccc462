// Sums over the axes on both sides of a row's own.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// Rows are short where all positions together are few. Side by side they ask for
// what follows.
// CHECK-LABEL: llvm.func @channels_1_task
// CHECK: scf.for {{.*}} step %c8_i64
// CHECK: [4096]
// CHECK: llvm.intr.masked.load

// Else, where lines are short, rows are units by themselves, or eight of them,
// where there are enough for all threads.
// CHECK-LABEL: llvm.func @channels_2_plan
// CHECK: %[[MANY:.*]] = arith.cmpi slt, %{{.*}}, %c32_i64
// CHECK-NEXT: %[[OWN:.*]] = arith.select %[[MANY]], %c1_i64, %c8_i64
// CHECK: %[[LANES:.*]] = arith.muli %c1_i64,
// CHECK: %[[ALL:.*]] = arith.muli %[[LANES]],
// CHECK: %[[FEW:.*]] = arith.cmpi slt, %[[ALL]], %c512_i64
// CHECK-NEXT: arith.select %[[FEW]], %c32_i64, %[[OWN]]

// A row that others lie between asks for a later line of its own, if there is
// one. Its whole vectors are not masked: the loop is made for each position of
// the other axis.
// CHECK-LABEL: llvm.func @channels_2_task
// CHECK: scf.for {{.*}} step %c1_i64
// CHECK: scf.for {{.*}} step %c64_i64 iter_args(
// CHECK-NOT: masked
// CHECK: scf.for {{.*}} step %c16_i64 iter_args(
// CHECK-NOT: masked
// CHECK: scf.for {{.*}} step %c16_i64 iter_args(
// CHECK: %[[LEFT:.*]] = arith.minsi %{{.*}}, %c17_i64
// CHECK-NEXT: %[[ROWS:.*]] = arith.subi %[[LEFT]], %c1_i64
// CHECK-NEXT: %[[APART:.*]] = arith.muli %{{.*}}, %[[ROWS]]
// CHECK-NEXT: %[[LATER:.*]] = llvm.getelementptr %[[AT:.*]][%[[APART]]] {{.*}}f32
// CHECK-NEXT: "llvm.intr.prefetch"(%[[LATER]])
// CHECK: llvm.intr.masked.load %[[AT]],
qn.rowwise @channels axes [N, R, C] (%x: !qn.tensor<f32, [N, R, C:1]>,
    %out: !qn.tensor<f32, [R:1]>) {
  %zero = arith.constant 0.0 : f32
  %v = qn.load %x : !qn.tensor<f32, [N, R, C:1]>
  %s = qn.reduce (%v : f32) init (%zero : f32) over [N, C] step {
  ^bb0(%a: f32, %e: f32):
    %n = arith.addf %a, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [R:1]>
}
