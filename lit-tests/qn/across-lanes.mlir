// Weights whose windows lie side by side are copied, channels last, for the
// lanes along the channels of the image; not where they have their channels side
// by side, nor the columns of a product, which packs them.
// RUN: quern-opt %s --qn-stage-across | FileCheck %s

// CHECK-LABEL: @weighted.repeated axes [P, C, I, H] instead_of @weighted
// CHECK-SAME: when [#qn.extents<[C, I], 2, 65536>, #qn.extents<[P], 8, -1>] staged 1
// CHECK: %[[GIVEN:.*]] = qn.load %{{.*}} : <f32, [C, I:1]>
// CHECK-NEXT: qn.store %[[GIVEN]], %[[STAGED:arg[0-9]+]] : f32, <f32, [I, C:1]>
// CHECK-NEXT: %[[READ:.*]] = qn.load %[[STAGED]]
// CHECK: arith.mulf %{{.*}}, %[[READ]]
// CHECK-LABEL: @weighted axes [P, C, I, H] (
// CHECK-NOT: staged
qn.rowwise @weighted axes [P, C, I, H]
    (%x: !qn.tensor<f32, [H, C:1]>, %w: !qn.tensor<f32, [C, I:1]>,
    %out: !qn.tensor<f32, [P, C:1]>) {
  %zero = arith.constant 0.0 : f32
  %p = qn.index P
  %c = qn.index C
  %i = qn.index I
  %h = arith.addi %p, %i : i64
  %a = qn.load %x[%h, %c] outside %zero : f32 : !qn.tensor<f32, [H, C:1]>
  %b = qn.load %w : <f32, [C, I:1]>
  %m = arith.mulf %a, %b : f32
  %s = qn.reduce (%m : f32) init (%zero : f32) over [I] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, <f32, [P, C:1]>
}

// CHECK-LABEL: @channels_last
// CHECK-NOT: staged
qn.rowwise @channels_last axes [P, C, I, H]
    (%x: !qn.tensor<f32, [H, C:1]>, %w: !qn.tensor<f32, [C:1, I]>,
    %out: !qn.tensor<f32, [P, C:1]>) {
  %zero = arith.constant 0.0 : f32
  %p = qn.index P
  %c = qn.index C
  %i = qn.index I
  %h = arith.addi %p, %i : i64
  %a = qn.load %x[%h, %c] outside %zero : f32 : !qn.tensor<f32, [H, C:1]>
  %b = qn.load %w : <f32, [C:1, I]>
  %m = arith.mulf %a, %b : f32
  %s = qn.reduce (%m : f32) init (%zero : f32) over [I] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, <f32, [P, C:1]>
}

// CHECK-LABEL: @product
// CHECK-NOT: staged
qn.rowwise @product axes [M, N, K]
    (%a: !qn.tensor<f32, [M, K:1]>, %b: !qn.tensor<f32, [N, K:1]>,
    %out: !qn.tensor<f32, [M, N:1]>) {
  %zero = arith.constant 0.0 : f32
  %x = qn.load %a : <f32, [M, K:1]>
  %y = qn.load %b : <f32, [N, K:1]>
  %m = arith.mulf %x, %y : f32
  %s = qn.reduce (%m : f32) init (%zero : f32) over [K] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, <f32, [M, N:1]>
}
