// A product of one row with windows has nothing that packed panels would be
// read for again: the launch that packs nothing makes several windows at once,
// lanes along the results. It makes few rows, too, where the lanes read
// neighbours and lines are no shorter than half a vector.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 | FileCheck %s --check-prefix=WHEN

// WHEN: %[[TALL:.*]] = qn.size O
// WHEN: %[[ONE:.*]] = arith.cmpi slt, %[[TALL]], %c2_i64
// WHEN: %[[FEW:.*]] = arith.cmpi slt, %[[TALL]], %c5_i64
// WHEN: %[[LINES:.*]] = arith.cmpi sge, %{{.*}}, %c8_i64
// WHEN: arith.andi %[[FEW]], %[[LINES]]
// WHEN: %[[NEAR:.*]] = arith.cmpi eq, %arg2, %c1_i64
// WHEN: %[[BOTH:.*]] = arith.andi %{{.*}}, %[[NEAR]]
// WHEN: arith.ori %[[ONE]], %[[BOTH]]
// CHECK-LABEL: llvm.func @conv_2_task
// Four windows share what is read of the other factor.
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
// Long sums of few rows and columns are made in parts.
// CHECK: @conv_4_task
// CHECK-NOT: @conv_5
qn.rowwise @conv axes [C, H, W, O, I, J, P, Q]
    (%x: !qn.tensor<f32, [C, H, W:1]>, %w: !qn.tensor<f32, [O, C, I, J:1]>,
     %k: i64, %out: !qn.tensor<f32, [O, P, Q:1]>) {
  %zero = arith.constant 0.0 : f32
  %c = qn.index C
  %p = qn.index P
  %q = qn.index Q
  %i = qn.index I
  %j = qn.index J
  %top = arith.muli %p, %k : i64
  %left = arith.muli %q, %k : i64
  %h = arith.addi %top, %i : i64
  %v = arith.addi %left, %j : i64
  %a = qn.load %x[%c, %h, %v] outside %zero : f32
      : !qn.tensor<f32, [C, H, W:1]>
  %b = qn.load %w : !qn.tensor<f32, [O, C, I, J:1]>
  %m = arith.mulf %a, %b : f32
  %s = qn.reduce (%m : f32) init (%zero : f32) over [C, I, J] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [O, P, Q:1]>
}
