// A schedule that somebody wrote is followed: two copies of four lanes, which the
// compiler would not choose.
// RUN: quern-opt %s --qn-to-loops=target=x86-64-v4 | FileCheck %s

// CHECK-LABEL: llvm.func @scale_task(
// CHECK-COUNT-2: arith.mulf {{.*}} : vector<4xf32>
// CHECK-NOT: vector<16xf32>
qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>, %a: f32,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  %r = arith.mulf %v, %a : f32
  qn.store %r, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    qn.dispatch stores of [0] parallel [C] lane C worth 32768 {
      qn.loop C tile 1024 lanes 4 copies 2
    }
  }
}
