// Loops that the lowering could not follow are refused.
// RUN: quern-opt %s --split-input-file --verify-diagnostics

qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    qn.dispatch stores of [0] parallel [R, C] lane C worth 4096 {
      qn.loop R tile 1 lanes 1 copies 1
      // expected-error @below {{lanes are a power of two up to 64}}
      qn.loop C tile 64 lanes 12 copies 1
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
      // expected-error @below {{copies are 1 to 64}}
      qn.loop C tile 64 lanes 16 copies 65
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
      // expected-error @below {{counts are positive, and below 2^40}}
      qn.loop C tile 0 lanes 16 copies 1
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
      // expected-error @below {{says when tiles have another size, but not which}}
      qn.loop C tile 64 lanes 16 copies 1 narrow 8
    }
  }
}

// -----

qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    // expected-error @below {{has no blocks of rows}}
    qn.dispatch rows of [0] parallel [R, C] lane C worth 4096 {
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
    // expected-error @below {{a task is worth 1 to 2^40 elements}}
    qn.dispatch stores of [0] parallel [R, C] lane C worth 0 {
      qn.loop R tile 1 lanes 1 copies 1
      qn.loop C tile 64 lanes 16 copies 1
    }
  }
}

// -----

qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  // expected-error @below {{is not the last operation of its kernel}}
  qn.schedule for "x86-64-v4" parts 0 {
    qn.dispatch stores of [0] parallel [C] lane C worth 1 {
      qn.loop C tile 64 lanes 16 copies 1
    }
  }
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
}

// -----

qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    qn.inner C lanes 16 copies 1 reduce_copies 8
    // expected-error @below {{comes a second time for the axis "C"}}
    qn.inner C lanes 8 copies 1 reduce_copies 8 unsuited
    qn.dispatch stores of [0] parallel [C] lane C worth 4096 {
      qn.loop C tile 64 lanes 16 copies 1
    }
  }
}

// -----

qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    // expected-error @below {{copies are 1 to 64}}
    qn.inner C lanes 16 copies 1 reduce_copies 65
    qn.dispatch stores of [0] parallel [C] lane C worth 4096 {
      qn.loop C tile 64 lanes 16 copies 1
    }
  }
}
