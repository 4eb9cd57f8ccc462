// What ends as floats of 16 bits is divided and rooted as exactly as these need.
// RUN: quern-opt %s --qn-coarsen --split-input-file | FileCheck %s

// Through sums, choices and branches.
// CHECK-LABEL: @ends
// CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<afn> : f32
// CHECK: math.sqrt %{{.*}} fastmath<afn> : f32
qn.rowwise @ends axes [C] (%x: !qn.tensor<f32, [C:1]>, %y: !qn.tensor<bf16, [C:1]>) {
  %zero = arith.constant 0.0 : f32
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  %w = arith.addf %v, %v : f32
  %q = arith.divf %v, %w : f32
  %r = math.sqrt %v : f32
  %is = arith.cmpf olt, %v, %zero : f32
  %chosen = arith.select %is, %q, %r : f32
  %arm = scf.if %is -> f32 {
    %sum = arith.addf %chosen, %v : f32
    scf.yield %sum : f32
  } else {
    scf.yield %chosen : f32
  }
  %s = arith.truncf %arm : f32 to bf16
  qn.store %s, %y : bf16, !qn.tensor<bf16, [C:1]>
}

// -----

// Not where the whole f32, its bits, its whole part or how it compares is seen.
// CHECK-LABEL: @seen
// CHECK-NOT: afn
qn.rowwise @seen axes [C] (%x: !qn.tensor<f32, [C:1]>, %y: !qn.tensor<bf16, [C:1]>, %z: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  %w = arith.addf %v, %v : f32
  %stored = arith.divf %v, %w : f32
  %compared = arith.divf %w, %v : f32
  %whole = arith.divf %w, %w : f32
  %bits = arith.divf %v, %v : f32
  %is = arith.cmpf olt, %compared, %v : f32
  %floor = math.floor %whole : f32
  %word = arith.bitcast %bits : f32 to i32
  %number = arith.uitofp %word : i32 to f32
  %a = arith.select %is, %v, %compared : f32
  %b = arith.addf %a, %floor : f32
  %c = arith.addf %b, %number : f32
  %d = arith.addf %c, %stored : f32
  %s = arith.truncf %d : f32 to bf16
  qn.store %s, %y : bf16, !qn.tensor<bf16, [C:1]>
  qn.store %stored, %z : f32, !qn.tensor<f32, [C:1]>
}

// -----

// Nor what a reduction takes.
// CHECK-LABEL: @summed
// CHECK-NOT: afn
qn.rowwise @summed axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>, %y: !qn.tensor<bf16, [R:1]>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %q = arith.divf %one, %v : f32
  %sum = qn.reduce (%q : f32) init (%zero : f32) over [C] step {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    qn.yield %t : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    qn.yield %t : f32
  }
  %s = arith.truncf %sum : f32 to bf16
  qn.store %s, %y : bf16, !qn.tensor<bf16, [R:1]>
}

// -----

// The last choice is made first: what only the form that it leaves out has seen
// counts no more. A coarse form's own comparison says so by its flag.
// CHECK-LABEL: @chosen
// CHECK-NOT: bitcast
// CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<afn> : f32
// CHECK-NOT: bitcast
// CHECK: %[[NEAR:.*]] = arith.select
// CHECK-NEXT: arith.truncf %[[NEAR]]
// CHECK-NEXT: qn.store
// CHECK-NOT: exact_or_coarse
qn.rowwise @chosen axes [C] (%x: !qn.tensor<f32, [C:1]>, %y: !qn.tensor<f16, [C:1]>) {
  %one = arith.constant 1.0 : f32
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  %q = arith.divf %v, %one : f32
  %i = arith.bitcast %q : f32 to i32
  %exact = arith.uitofp %i : i32 to f32
  %is = arith.cmpf olt, %q, %one fastmath<afn> : f32
  %double = arith.addf %q, %q : f32
  %coarse = arith.select %is, %q, %double : f32
  %e = qn.exact_or_coarse %exact, %coarse : f32
  %s = arith.truncf %e : f32 to f16
  qn.store %s, %y : f16, !qn.tensor<f16, [C:1]>
}

// -----

// CHECK-LABEL: @kept
// CHECK: %[[EXACT:.*]] = arith.mulf
// CHECK-NEXT: qn.store %[[EXACT]]
qn.rowwise @kept axes [C] (%x: !qn.tensor<f32, [C:1]>, %y: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  %exact = arith.mulf %v, %v : f32
  %coarse = arith.addf %v, %v : f32
  %e = qn.exact_or_coarse %exact, %coarse : f32
  qn.store %e, %y : f32, !qn.tensor<f32, [C:1]>
}
