// What the lowering could not follow is refused.
// RUN: quern-opt %s --split-input-file --verify-diagnostics

qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    // expected-error @below {{the kernel has no store of number 1}}
    qn.dispatch stores of [1] parallel [R, C] lane C worth 4096 {
      qn.loop R tile 1 lanes 1 copies 1
      qn.loop C tile 64 lanes 16 copies 1
    }
  }
}

// -----

qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
  // expected-error @below {{no dispatch makes store 0}}
  qn.schedule for "x86-64-v4" parts 0 {
  }
}

// -----

qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
  // expected-error @below {{1 slots for 0 staged operands}}
  qn.schedule for "x86-64-v4" slots [0] parts 0 {
    qn.dispatch stores of [0] parallel [R, C] lane C worth 4096 {
      qn.loop R tile 1 lanes 1 copies 1
      qn.loop C tile 64 lanes 16 copies 1
    }
  }
}

// -----

qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    qn.dispatch stores of [0] parallel [R, C, Q] lane C worth 4096 {
      // expected-error @below {{the kernel has no axis "Q"}}
      qn.loop Q tile 1 lanes 1 copies 1
      qn.loop R tile 1 lanes 1 copies 1
      qn.loop C tile 64 lanes 16 copies 1
    }
  }
}

// -----

qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    // expected-error @below {{has no loop along "C"}}
    qn.dispatch stores of [0] parallel [R, C] lane C worth 4096 {
      qn.loop R tile 1 lanes 1 copies 1
    }
  }
}

// -----

qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    // expected-error @below {{walks along "C", which is not parallel}}
    qn.dispatch stores of [0] parallel [R] lane C worth 4096 {
      qn.loop R tile 1 lanes 1 copies 1
      qn.loop C tile 64 lanes 16 copies 1
    }
  }
}

// -----

qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    qn.dispatch stores of [0] parallel [R, C] lane C worth 4096 {
      qn.loop R tile 1 lanes 1 copies 1
      qn.loop C tile 64 lanes 16 copies 1
      // expected-error @below {{axis "C" is cut twice}}
      qn.loop C tile 64 lanes 1 copies 1
    }
  }
}

// -----

qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    // expected-error @below {{has lanes along two axes}}
    qn.dispatch stores of [0] parallel [R, C] lane C worth 4096 {
      qn.loop R tile 16 lanes 16 copies 1
      qn.loop C tile 64 lanes 16 copies 1
    }
  }
}
