// What no entry of a GPU can be is refused.
// RUN: quern-opt %s --split-input-file --verify-diagnostics

qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "sm_90" parts 0 {
    // expected-error @below {{has no entry}}
    qn.dispatch stores of [0] parallel [C] lane C worth 4096 {
      qn.loop C tile 1 lanes 1 copies 1
    }
  }
}

// -----

qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    // expected-error @below {{has entries, which only GPUs have}}
    qn.dispatch stores of [0] parallel [C] lane C worth 4096 {
      qn.entry thread lane C threads 128 vectors 1 copies 1 {
        qn.loop C tile 1 lanes 1 copies 1
      }
    }
  }
}

// -----

qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "sm_90" parts 0 {
    qn.dispatch stores of [0] parallel [C] lane C worth 4096 {
      // expected-error @below {{has threads 2048, but they are 32 to 1024}}
      qn.entry thread lane C threads 2048 vectors 1 copies 1 {
        qn.loop C tile 1 lanes 1 copies 1
      }
    }
  }
}

// -----

qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "sm_90" parts 0 {
    qn.dispatch stores of [0] parallel [C] lane C worth 4096 {
      // expected-error @below {{has several blocks if its team is a cluster}}
      qn.entry block lane C threads 256 vectors 4 copies 1 cluster 2 {
        qn.loop C tile 1 lanes 1 copies 1
      }
    }
  }
}

// -----

qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "sm_90" parts 0 {
    qn.dispatch stores of [0] parallel [C] lane C worth 4096 {
      // expected-error @below {{keeps whole vectors of rows, in teams of threads}}
      qn.entry block lane C threads 256 vectors 4 copies 1 kept 6 {
        qn.loop C tile 1 lanes 1 copies 1
      }
    }
  }
}

// -----

qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "sm_90" parts 0 {
    qn.dispatch stores of [0] parallel [C] lane C worth 4096 {
      // expected-error @below {{stages a product of a block}}
      qn.entry block lane C threads 256 vectors 4 copies 1 staged {
        qn.loop C tile 1 lanes 1 copies 1
      }
    }
  }
}

// -----

qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "sm_90" parts 0 {
    qn.dispatch stores of [0] parallel [C] lane C worth 4096 {
      // expected-error @below {{makes a product that the dispatch does not name}}
      qn.entry block lane C threads 256 vectors 4 copies 1 product {
        qn.loop C tile 1 lanes 1 copies 1
      }
    }
  }
}

// -----

qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "sm_90" parts 0 {
    qn.dispatch stores of [0] parallel [C] lane C worth 4096 {
      // expected-error @below {{has no loop along "C"}}
      qn.entry thread lane C threads 128 vectors 1 copies 1 {
      }
    }
  }
}

// -----

qn.rowwise @scale axes [C] (%x: !qn.tensor<f32, [C:1]>,
    %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "sm_90" parts 0 {
    qn.dispatch stores of [0] parallel [C] lane C worth 4096 {
      qn.entry thread lane C threads 128 vectors 4 copies 1 {
        // expected-error @below {{has the entry's vectors where it is shared}}
        qn.loop C tile 1024 lanes 8 copies 1 shared
      }
    }
  }
}
