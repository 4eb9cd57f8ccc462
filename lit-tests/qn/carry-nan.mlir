// A maximum of free order ignores NaN in one state and carries it in another; a
// portable one is of integers in the order of the floats, zeros and NaN among them.
// RUN: quern-opt %s --split-input-file --qn-carry-nan | FileCheck %s

// CHECK-LABEL: @free
// CHECK: %[[BOTH:.*]]:2 = qn.reduce
// CHECK: arith.cmpf ogt
// CHECK: arith.cmpf uno
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[BOTH]]#1, %[[BOTH]]#1
// CHECK: arith.select %[[NAN]], %[[BOTH]]#1, %[[BOTH]]#0
qn.rowwise @free axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, []>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  %low = arith.constant 0xFF800000 : f32
  %m = qn.reduce (%v : f32) init (%low : f32) over [C] step {
  ^bb0(%s: f32, %e: f32):
    %n = arith.maximumf %s, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.maximumf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %m, %out : f32, !qn.tensor<f32, []>
}

// -----

// CHECK-LABEL: @portable
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK: %[[SIGN:.*]] = arith.shrsi %[[BITS]]
// CHECK: %[[MASK:.*]] = arith.andi %[[SIGN]]
// CHECK: %[[NUMBER:.*]] = arith.xori %[[BITS]], %[[MASK]]
// CHECK: %[[NAN:.*]] = arith.cmpf uno
// CHECK: %[[KEY:.*]] = arith.select %[[NAN]], %{{.*}}, %[[NUMBER]] : i32
// CHECK: %[[LARGEST:.*]] = qn.reduce(%[[KEY]] : i32)
// CHECK-SAME: over [C] step
// CHECK: arith.maxsi
// CHECK: arith.shrsi %[[LARGEST]]
// CHECK: arith.bitcast %{{.*}} : i32 to f32
qn.rowwise @portable axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, []>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  %low = arith.constant 0xFF800000 : f32
  %m = qn.reduce (%v : f32) init (%low : f32) over [C] portable step {
  ^bb0(%s: f32, %e: f32):
    %n = arith.maximumf %s, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.maximumf %a, %b : f32
    qn.yield %n : f32
  }
  qn.store %m, %out : f32, !qn.tensor<f32, []>
}
