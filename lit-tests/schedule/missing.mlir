// The lowering chooses nothing: it refuses a kernel without a schedule, and one for
// another target.
// RUN: quern-opt %s --split-input-file --verify-diagnostics --qn-to-loops=target=x86-64-v3

// expected-error @below {{the kernel has no schedule for x86-64-v3}}
qn.rowwise @copy axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
}

// -----

// expected-error @below {{the kernel has no schedule for x86-64-v3}}
qn.rowwise @copy axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    qn.dispatch stores of [0] parallel [C] lane C worth 1 {
      qn.loop C tile 64 lanes 16 copies 1
    }
  }
}
