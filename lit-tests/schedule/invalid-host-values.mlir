// What stands before the dispatches is what the host can compute for every call.
// RUN: quern-opt %s --split-input-file --verify-diagnostics

qn.rowwise @divided axes [C] (%x: !qn.tensor<f32, [C:1]>, %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    %c = qn.size C
    %one = arith.constant 1 : i64
    // expected-error @+1 {{divides by a number that may be zero}}
    %q = arith.divui %one, %c : i64
    %p = arith.cmpi eq, %q, %one : i64
    qn.dispatch stores when %p of [0] parallel [C] lane C worth 4096 {
      qn.loop C tile 64 lanes 16 copies 1
    }
  }
}

// -----

qn.rowwise @positions axes [C] (%x: !qn.tensor<f32, [C:1]>, %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  %i = qn.index C
  %two = arith.constant 2 : i64
  %p = arith.cmpi slt, %i, %two : i64
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    // expected-error @+1 {{runs when a value that the host does not know holds}}
    qn.dispatch stores when %p of [0] parallel [C] lane C worth 4096 {
      qn.loop C tile 64 lanes 16 copies 1
    }
  }
}

// -----

qn.rowwise @loads axes [C] (%x: !qn.tensor<f32, [C:1]>, %out: !qn.tensor<f32, [C:1]>) {
  %v = qn.load %x : !qn.tensor<f32, [C:1]>
  qn.store %v, %out : f32, !qn.tensor<f32, [C:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    // expected-error @+1 {{is nothing that the host can compute}}
    %w = qn.load %x : !qn.tensor<f32, [C:1]>
    qn.dispatch stores of [0] parallel [C] lane C worth 4096 {
      qn.loop C tile 64 lanes 16 copies 1
    }
  }
}

// -----

qn.rowwise @summed axes [M, N, K] (%x: !qn.tensor<f32, [M, K:1]>,
    %y: !qn.tensor<f32, [K, N:1]>, %out: !qn.tensor<f32, [M, N:1]>) {
  %a = qn.load %x : !qn.tensor<f32, [M, K:1]>
  %b = qn.load %y : !qn.tensor<f32, [K, N:1]>
  %p = arith.mulf %a, %b : f32
  %zero = arith.constant 0.0 : f32
  %s = qn.reduce (%p : f32) init (%zero : f32) over [K] step {
  ^bb0(%t: f32, %e: f32):
    %n = arith.addf %t, %e : f32
    qn.yield %n : f32
  } merge {
  ^bb0(%t: f32, %u: f32):
    %n = arith.addf %t, %u : f32
    qn.yield %n : f32
  }
  qn.store %s, %out : f32, !qn.tensor<f32, [M, N:1]>
  qn.schedule for "x86-64-v4" parts 0 {
    %k = qn.size K
    // expected-error @+1 {{has parts of a size that may be zero}}
    %plan = qn.contraction 1 batch [] rows [M] columns [N] of f32 tile 8 by 2
        lanes 16 block 256 panels 4 depth 256 part %k {
      qn.product %s of %a, %b over [K] : f32, f32, f32
    }
    qn.dispatch stores of [0] parallel [M, N] lane N worth 4096 {
      qn.loop M tile 1 lanes 1 copies 1
      qn.loop N tile 64 lanes 16 copies 1
    }
  }
}

// -----

// expected-error @+1 {{the kernel has no axis "D"}}
qn.rowwise @form.repeated axes [C] instead_of @form when [#qn.extents<[D], 8, -1>] (%x: !qn.tensor<f32, [C:1]>) {
}
