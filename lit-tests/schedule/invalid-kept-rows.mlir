// Teams that keep rows have room for the longest that they are meant for.
// RUN: quern-opt %s --split-input-file --verify-diagnostics

qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
  qn.schedule for "sm_90" parts 0 {
    qn.dispatch stores of [0] parallel [R, C] lane C worth 4096 {
      // expected-error @below {{has room for rows of 256 elements, and is meant for longer ones}}
      qn.entry warp lane C threads 128 vectors 4 copies 2 kept 8 most_lanes 260 {
        qn.loop R tile 1 lanes 1 copies 1
        qn.loop C tile 1 lanes 1 copies 1
      }
    }
  }
}

// -----

// A warp of this GPU has twice the threads.
qn.rowwise @scale axes [R, C] (%x: !qn.tensor<f32, [R, C:1]>,
    %out: !qn.tensor<f32, [R, C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [R, C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [R, C:1]>
  qn.schedule for "gfx942" parts 0 {
    qn.dispatch stores of [0] parallel [R, C] lane C worth 4096 {
      qn.entry warp lane C threads 128 vectors 4 copies 2 kept 8 most_lanes 512 {
        qn.loop R tile 1 lanes 1 copies 1
        qn.loop C tile 1 lanes 1 copies 1
      }
      // expected-error @below {{keeps whole vectors of rows}}
      qn.entry block lane C threads 256 vectors 4 copies 2 kept 8 shared_lanes 100 {
        qn.loop R tile 1 lanes 1 copies 1
        qn.loop C tile 1 lanes 1 copies 1
      }
    }
  }
}
