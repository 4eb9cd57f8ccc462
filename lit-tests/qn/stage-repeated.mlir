// Reductions within reductions within reductions leave their results in the workspace.
// RUN: quern-opt %s --split-input-file --qn-stage-repeated | FileCheck %s

// Rows are divided by their sums, then columns, then rows again: each second one repeats what is stored no more.
// CHECK-LABEL: @alternating axes [R, C] staged 2
// CHECK: %[[ROWS:.*]] = qn.reduce{{.*}} over [C]
// CHECK: qn.store %[[ROWS]], %[[FIRST:.*]] : f32, <f32, [R:1]>
// CHECK: %[[READ:.*]] = qn.load %[[FIRST]]
// CHECK: arith.divf %{{.*}}, %[[READ]]
// CHECK: qn.reduce{{.*}} over [R]
// CHECK: qn.store %{{.*}} : f32, <f32, [C:1]>
// CHECK: qn.reduce{{.*}} over [C]
// CHECK-NOT: qn.store
// CHECK: qn.reduce{{.*}} over [R]
// CHECK-NOT: qn.store
// CHECK: qn.store %{{.*}}, %{{.*}} : f32, <f32, [C:1]>
qn.rowwise @alternating axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %a = qn.reduce (%v : f32) init (%zero : f32) over [C] step {
  ^bb0(%s: f32, %e: f32):
    %n = arith.addf %s, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%s: f32, %t: f32):
    %n = arith.addf %s, %t : f32
    qn.yield %n : f32
  }
  %v1 = arith.divf %v, %a : f32
  %b = qn.reduce (%v1 : f32) init (%zero : f32) over [R] step {
  ^bb0(%s: f32, %e: f32):
    %n = arith.addf %s, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%s: f32, %t: f32):
    %n = arith.addf %s, %t : f32
    qn.yield %n : f32
  }
  %v2 = arith.divf %v1, %b : f32
  %c = qn.reduce (%v2 : f32) init (%zero : f32) over [C] step {
  ^bb0(%s: f32, %e: f32):
    %n = arith.addf %s, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%s: f32, %t: f32):
    %n = arith.addf %s, %t : f32
    qn.yield %n : f32
  }
  %v3 = arith.divf %v2, %c : f32
  %d = qn.reduce (%v3 : f32) init (%zero : f32) over [R] step {
  ^bb0(%s: f32, %e: f32):
    %n = arith.addf %s, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%s: f32, %t: f32):
    %n = arith.addf %s, %t : f32
    qn.yield %n : f32
  }
  qn.store %d, %out : f32, !qn.tensor<f32, [C:1]>
}

// -----

// The columns of centred rows: rows are summed once for each block of columns.
// CHECK-LABEL: @once axes [R, C]
// CHECK-NOT: staged
// CHECK: qn.store
qn.rowwise @once axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  %zero = arith.constant 0.0 : f32
  %a = qn.reduce (%v : f32) init (%zero : f32) over [C] step {
  ^bb0(%s: f32, %e: f32):
    %n = arith.addf %s, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%s: f32, %t: f32):
    %n = arith.addf %s, %t : f32
    qn.yield %n : f32
  }
  %v1 = arith.divf %v, %a : f32
  %b = qn.reduce (%v1 : f32) init (%zero : f32) over [R] step {
  ^bb0(%s: f32, %e: f32):
    %n = arith.addf %s, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%s: f32, %t: f32):
    %n = arith.addf %s, %t : f32
    qn.yield %n : f32
  }
  qn.store %b, %out : f32, !qn.tensor<f32, [C:1]>
}

// -----

// Scores of projected rows, summed with values: the projection is stored, the scores are not.
// CHECK-LABEL: @projected axes [M, N, D, F, E] staged 1
// CHECK: %[[PROJECTED:.*]] = qn.reduce{{.*}} over [D]
// CHECK: qn.store %[[PROJECTED]], %{{.*}} : f32, <f32, [M, F:1]>
// CHECK: qn.reduce{{.*}} over [F]
// CHECK-NOT: qn.store
// CHECK: qn.reduce{{.*}} over [N]
// CHECK: qn.store %{{.*}}, %{{.*}} : f32, <f32, [M, E:1]>
qn.rowwise @projected axes [M, N, D, F, E] (
    %x: !qn.tensor<f32, [M, D:1]>, %w: !qn.tensor<f32, [D, F:1]>,
    %k: !qn.tensor<f32, [N, F:1]>, %v: !qn.tensor<f32, [N, E:1]>,
    %out: !qn.tensor<f32, [M, E:1]>) {
  %a = qn.load %x : !qn.tensor<f32, [M, D:1]>
  %b = qn.load %w : !qn.tensor<f32, [D, F:1]>
  %zero = arith.constant 0.0 : f32
  %ab = arith.mulf %a, %b : f32
  %q = qn.reduce (%ab : f32) init (%zero : f32) over [D] step {
  ^bb0(%s: f32, %e: f32):
    %n = arith.addf %s, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%s: f32, %t: f32):
    %n = arith.addf %s, %t : f32
    qn.yield %n : f32
  }
  %c = qn.load %k : !qn.tensor<f32, [N, F:1]>
  %qc = arith.mulf %q, %c : f32
  %scores = qn.reduce (%qc : f32) init (%zero : f32) over [F] step {
  ^bb0(%s: f32, %e: f32):
    %n = arith.addf %s, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%s: f32, %t: f32):
    %n = arith.addf %s, %t : f32
    qn.yield %n : f32
  }
  %d = qn.load %v : !qn.tensor<f32, [N, E:1]>
  %sd = arith.mulf %scores, %d : f32
  %o = qn.reduce (%sd : f32) init (%zero : f32) over [N] step {
  ^bb0(%s: f32, %e: f32):
    %n = arith.addf %s, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%s: f32, %t: f32):
    %n = arith.addf %s, %t : f32
    qn.yield %n : f32
  }
  qn.store %o, %out : f32, !qn.tensor<f32, [M, E:1]>
}
