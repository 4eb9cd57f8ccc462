// Every operation of the dialect survives printing and parsing.
// RUN: quern-opt %s | quern-opt | FileCheck %s

// CHECK-LABEL: qn.rowwise @softmax axes [R.0, C]
// CHECK-SAME: (%[[X:.*]]: !qn.tensor<f32, [R.0, C:1]>, %[[SCALE:.*]]: f32, %[[OUT:.*]]: !qn.tensor<f32, [R.0, C:1]>)
qn.rowwise @softmax axes [R.0, C] (%x: !qn.tensor<f32, [R.0, C:1]>,
    %scale: f32, %out: !qn.tensor<f32, [R.0, C:1]>) {
  %low = arith.constant 0xFF800000 : f32
  // CHECK: %[[V:.*]] = qn.load %[[X]] : <f32, [R.0, C:1]>
  %v = qn.load %x : !qn.tensor<f32, [R.0, C:1]>
  // CHECK: qn.reduce(%[[V]] : f32) init(%{{.*}} : f32) over [C] step {
  %m = qn.reduce (%v : f32) init (%low : f32) over [C] step {
  ^bb0(%s: f32, %e: f32):
    %n = arith.maximumf %s, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.maximumf %a, %b : f32
    // CHECK: qn.yield %{{.*}} : f32
    qn.yield %n : f32
  }
  %d = arith.subf %v, %m : f32
  %r = arith.mulf %d, %scale : f32
  // CHECK: qn.store %{{.*}}, %[[OUT]] : f32, <f32, [R.0, C:1]>
  qn.store %r, %out : f32, !qn.tensor<f32, [R.0, C:1]>
}

// CHECK-LABEL: qn.rowwise @window axes [H, P] wide attributes {numbers = array<i64: 0, 3>}
qn.rowwise @window axes [H, P] wide attributes {numbers = array<i64: 0, 3>} (
    %x: !qn.tensor<i1, [H:0]>, %out: !qn.tensor<i1, [P]>) {
  %zero = arith.constant 0 : i64
  %false = arith.constant false
  // CHECK: %[[K:.*]] = qn.size H
  %k = qn.size H
  // CHECK: %[[P:.*]] = qn.index P
  %p = qn.index P
  // CHECK: %[[I:.*]] = qn.axis I from %{{.*}} to %[[K]]
  %i = qn.axis I from %zero to %k
  %at = arith.addi %p, %i : i64
  %c = arith.cmpi slt, %at, %k : i64
  // CHECK: qn.load %{{.*}}[%{{.*}}] outside %{{.*}} : i1 when %{{.*}} : <i1, [H:0]>
  %v = qn.load %x[%at] outside %false : i1 when %c : !qn.tensor<i1, [H:0]>
  // CHECK: qn.load %{{.*}}[%[[P]]] checked : <i1, [H:0]>
  %w = qn.load %x[%p] checked : !qn.tensor<i1, [H:0]>
  %t = arith.xori %v, %w : i1
  // CHECK: over [I] where %{{.*}} portable ordered step
  %any = qn.reduce (%t : i1) init (%false : i1) over [I] where %c portable ordered step {
  ^bb0(%s: i1, %e: i1):
    %n = arith.ori %s, %e : i1
    qn.yield %n : i1
  } merge {
  ^bb0(%a: i1, %b: i1):
    %n = arith.ori %a, %b : i1
    qn.yield %n : i1
  }
  qn.store %any, %out : i1, !qn.tensor<i1, [P]>
}

// CHECK-LABEL: qn.rowwise @rest
qn.rowwise @rest axes [C] (%x: !qn.tensor<complex<f32>, [C:1]>,
    %into: !qn.tensor<f32, [C:1]>, %out: !qn.tensor<complex<f32>, [C:1]>) {
  // CHECK: qn.load %{{.*}} part 1 : <complex<f32>, [C:1]>
  %im = qn.load %x part 1 : !qn.tensor<complex<f32>, [C:1]>
  %i = qn.index C
  // CHECK: qn.lookup %{{.*}} in dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> -> f32
  %t = qn.lookup %i in dense<[1.0, 2.0]> : tensor<2xf32> -> f32
  %size = qn.size C
  %some = arith.cmpi slt, %i, %size : i64
  // CHECK: qn.require %{{.*}} when %{{.*}}, "beyond the end" : f32
  %known = qn.require %t when %some, "beyond the end" : f32
  // CHECK: qn.exact_or_coarse %{{.*}}, %{{.*}} : f32
  %near = qn.exact_or_coarse %known, %t : f32
  // CHECK: qn.require %{{.*}} when %{{.*}}, "C" of %{{.*}} : i64
  %place = qn.require %i when %some, "C" of %i : i64
  %y = arith.mulf %im, %known : f32
  %zero = arith.constant 0.0 : f32
  // CHECK: qn.scan(%{{.*}} : f32) init(%{{.*}} : f32) over C reverse exclusive step
  %sum = qn.scan (%y : f32) init (%zero : f32) over C reverse exclusive step {
  ^bb0(%s: f32, %e: f32):
    %n = arith.addf %s, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
  // CHECK: qn.store %{{.*}}, %{{.*}} part 0 : f32, <complex<f32>, [C:1]>
  qn.store %sum, %out part 0 : f32, !qn.tensor<complex<f32>, [C:1]>
  // CHECK: qn.scatter %{{.*}} to %{{.*}}[%{{.*}}] checked : f32 to <f32, [C:1]>
  qn.scatter %y to %into[%i] checked : f32 to !qn.tensor<f32, [C:1]> {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
}

// CHECK: qn.rowwise @repeated axes [C, K]
qn.rowwise @repeated axes [C, K] (%x: !qn.tensor<f32, [K:0]>,
    %at: !qn.tensor<i64, [K:0]>, %into: !qn.tensor<f32, [C:1]>) {
  %y = qn.load %x : !qn.tensor<f32, [K:0]>
  %i = qn.load %at : !qn.tensor<i64, [K:0]>
  // CHECK: qn.scatter %{{.*}} to %{{.*}}[%{{.*}}] over [K] : f32 to <f32, [C:1]>
  qn.scatter %y to %into[%i] over [K] : f32 to !qn.tensor<f32, [C:1]> {
  ^bb0(%a: f32, %b: f32):
    %n = arith.addf %a, %b : f32
    qn.yield %n : f32
  }
}

// CHECK: qn.rowwise @order axes [C] staged 1
qn.rowwise @order axes [C] staged 1 (%k: i32, %order: !qn.tensor<i64, [C:1]>) {
  // CHECK: qn.sort %{{.*}} over C, %{{.*}} : i32, <i64, [C:1]>
  qn.sort %k over C, %order : i32, !qn.tensor<i64, [C:1]>
}

// CHECK-LABEL: qn.rowwise @joined
qn.rowwise @joined axes [C] (%x: !qn.tensor<complex<f32>, [C:1]>,
    %y: !qn.tensor<complex<f32>, [C:1]>, %out: !qn.tensor<f32, [C:1]>,
    %m: i64, %n: i64) {
  // CHECK: qn.joined %{{.*}}, %{{.*}} ends %{{.*}}, %{{.*}} along C part 1 :
  %v = qn.joined %x, %y ends %m, %n along C part 1
    : !qn.tensor<complex<f32>, [C:1]>, !qn.tensor<complex<f32>, [C:1]> -> f32
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
}

// CHECK-LABEL: qn.rowwise @few.repeated axes [C] instead_of @few when [#qn.extents<[C], 8, -1>] (
qn.rowwise @few.repeated axes [C] instead_of @few when [#qn.extents<[C], 8, -1>] (%x: !qn.tensor<f32, [C:1]>) {
}

// CHECK-LABEL: qn.rowwise @compact
qn.rowwise @compact axes [K, N] (%y: !qn.tensor<f32, [K:1]>, %x: !qn.tensor<f32, [N:1]>, %f: i1, %one: i64, %z: i64) {
  %v = qn.load %x : !qn.tensor<f32, [N:1]>
  %n = qn.reduce (%one : i64) init (%z : i64) over [N] step {
  ^bb0(%s: i64, %e: i64):
    qn.yield %s : i64
  } merge {
  ^bb0(%a: i64, %b: i64):
    qn.yield %a : i64
  }
  // CHECK: qn.compact %{{.*}} to %{{.*}} along N when %{{.*}} count %{{.*}} checked : f32 to <f32, [K:1]>
  qn.compact %v to %y along N when %f count %n checked : f32 to !qn.tensor<f32, [K:1]>
}
