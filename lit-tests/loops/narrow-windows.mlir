// Where lines of the results are shorter than half a vector, and than the
// windows, lanes run along the windows, and along long ones wherever lanes along
// the results would read places far apart.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 | FileCheck %s --check-prefix=WHEN

// WHEN: %[[BELOW:.*]] = arith.minsi %c8_i64, %[[WINDOW:.*]] :
// WHEN: %[[SHORT:.*]] = arith.cmpi slt, %{{.*}}, %[[BELOW]]
// WHEN: %[[LONG:.*]] = arith.cmpi sge, %[[WINDOW]], %c32_i64
// WHEN: %[[FAR:.*]] = arith.cmpi sge, %arg1, %c16_i64
// WHEN: %[[APART:.*]] = arith.andi %[[LONG]], %[[FAR]]
// WHEN: %[[ALONG:.*]] = arith.ori %[[SHORT]], %[[APART]]
// WHEN: qn.dispatch stores when %[[ALONG]] of [0] parallel [P, Q] lane J
// CHECK: llvm.func @both_task
// CHECK: llvm.func @both_1_task
// CHECK: vector.shuffle
// CHECK-NOT: @both_2
qn.rowwise @both axes [H, W, P, Q]
    (%x: !qn.tensor<f32, [H, W:1]>, %k: i64, %out: !qn.tensor<f32, [P, Q:1]>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i64
  %p = qn.index P
  %q = qn.index Q
  %i = qn.axis I from %none to %k
  %j = qn.axis J from %none to %k
  %top = arith.muli %p, %k : i64
  %left = arith.muli %q, %k : i64
  %h = arith.addi %top, %i : i64
  %w = arith.addi %left, %j : i64
  %a = qn.load %x[%h, %w] outside %zero : f32 : !qn.tensor<f32, [H, W:1]>
  %s = qn.reduce (%a : f32) init (%zero : f32) over [I, J] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [P, Q:1]>
}

// Windows that lie across lines are walked one element after the other.
// CHECK-LABEL: llvm.func @across_plan
// CHECK-NOT: @across_1
qn.rowwise @across axes [H, W, P]
    (%x: !qn.tensor<f32, [H, W:1]>, %k: i64, %out: !qn.tensor<f32, [P, W:1]>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i64
  %p = qn.index P
  %w = qn.index W
  %i = qn.axis I from %none to %k
  %top = arith.muli %p, %k : i64
  %h = arith.addi %top, %i : i64
  %a = qn.load %x[%h, %w] outside %zero : f32 : !qn.tensor<f32, [H, W:1]>
  %s = qn.reduce (%a : f32) init (%zero : f32) over [I] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [P, W:1]>
}
