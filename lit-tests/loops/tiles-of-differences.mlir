// Sums along the lanes of what two operands make together, here their
// difference: a tile of rows of both reads each vector once.
// RUN: quern-opt %s --qn-schedule=target=x86-64-v4 --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @apart_task
// CHECK: %{{.*}}:16 = scf.for
// CHECK-COUNT-8: llvm.load %{{.*}} -> vector<16xf32>
// CHECK-NOT: llvm.load
// CHECK: scf.yield
qn.rowwise @apart axes [M, D, N]
    (%a: !qn.tensor<f32, [M, D:1]>, %b: !qn.tensor<f32, [N, D:1]>,
    %out: !qn.tensor<f32, [M, N:1]>) {
  %zero = arith.constant 0.0 : f32
  %x = qn.load %a : !qn.tensor<f32, [M, D:1]>
  %y = qn.load %b : !qn.tensor<f32, [N, D:1]>
  %d = arith.subf %x, %y : f32
  %q = math.absf %d : f32
  %s = qn.reduce (%q : f32) init (%zero : f32) over [D] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [M, N:1]>
}

// What is made of the sums is made of vectors of them: sixteen vectors become
// one with a sum in each lane, the tile lies on the stack, and the root is
// taken behind it.
// CHECK-LABEL: llvm.func @finished_task
// CHECK: llvm.alloca
// CHECK: %{{.*}}:16 = scf.for
// CHECK-COUNT-30: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: vector.extract {{.*}}[15]
// CHECK: llvm.store {{.*}} : vector<4xf32>
// CHECK-NOT: math.sqrt {{.*}} : f32
// CHECK: math.sqrt {{.*}} : vector<16xf32>
qn.rowwise @finished axes [M, D, N]
    (%a: !qn.tensor<f32, [M, D:1]>, %b: !qn.tensor<f32, [N, D:1]>,
    %out: !qn.tensor<f32, [M, N:1]>) {
  %zero = arith.constant 0.0 : f32
  %x = qn.load %a : !qn.tensor<f32, [M, D:1]>
  %y = qn.load %b : !qn.tensor<f32, [N, D:1]>
  %d = arith.subf %x, %y : f32
  %q = arith.mulf %d, %d : f32
  %s = qn.reduce (%q : f32) init (%zero : f32) over [D] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  %r = math.sqrt %s : f32
  qn.store %r, %out : f32, !qn.tensor<f32, [M, N:1]>
}
