// Scatters at counted places, and their roundtrip once they have no places.
// RUN: quern-opt %s --qn-compact | FileCheck %s
// RUN: quern-opt %s --qn-compact | quern-opt | FileCheck %s

// CHECK-LABEL: @marked
// CHECK-NOT: qn.scan
// CHECK: %[[COUNT:.*]] = qn.reduce({{.*}}) init({{.*}}) over [N]
// CHECK: qn.compact %{{.*}} to %{{.*}} along N when %{{.*}} count %[[COUNT]] checked : f32 to <f32, [K:1]>
qn.rowwise @marked axes [K, N] (%y: !qn.tensor<f32, [K:1]>,
    %x: !qn.tensor<f32, [N:1]>, %f: !qn.tensor<i1, [N:1]>) {
  %zero = arith.constant 0 : i64
  %v = qn.load %x : !qn.tensor<f32, [N:1]>
  %flag = qn.load %f : !qn.tensor<i1, [N:1]>
  %wide = arith.extui %flag : i1 to i64
  %rank = qn.scan (%wide : i64) init (%zero : i64) over N exclusive step {
  ^bb0(%s: i64, %e: i64):
    %n = arith.addi %s, %e : i64
    qn.yield %n : i64
  } merge {
  ^bb0(%a: i64, %b: i64):
    %n = arith.addi %a, %b : i64
    qn.yield %n : i64
  }
  qn.scatter %v to %y[%rank] when %flag checked : f32 to !qn.tensor<f32, [K:1]> {
  }
}

// An inclusive scan counts the element itself.
// CHECK-LABEL: @inclusive
// CHECK: qn.scatter
qn.rowwise @inclusive axes [K, N] (%y: !qn.tensor<f32, [K:1]>,
    %x: !qn.tensor<f32, [N:1]>, %f: !qn.tensor<i1, [N:1]>) {
  %zero = arith.constant 0 : i64
  %v = qn.load %x : !qn.tensor<f32, [N:1]>
  %flag = qn.load %f : !qn.tensor<i1, [N:1]>
  %wide = arith.extui %flag : i1 to i64
  %rank = qn.scan (%wide : i64) init (%zero : i64) over N step {
  ^bb0(%s: i64, %e: i64):
    %n = arith.addi %s, %e : i64
    qn.yield %n : i64
  } merge {
  ^bb0(%a: i64, %b: i64):
    %n = arith.addi %a, %b : i64
    qn.yield %n : i64
  }
  qn.scatter %v to %y[%rank] when %flag checked : f32 to !qn.tensor<f32, [K:1]> {
  }
}
