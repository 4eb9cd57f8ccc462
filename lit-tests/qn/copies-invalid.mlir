// Copies of neighbours and tiles of a warp that are refused.
// RUN: quern-opt %s --split-input-file --verify-diagnostics

qn.kernel @copy axes [N] (%x: !qn.tensor<f32, [N:1]>, %y: !qn.tensor<f64, [N:1]>, %n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{copies 'f64' to 'f32'}}
  qn.copy %x[%n], %y[%n] count 4 : !qn.tensor<f32, [N:1]>, !qn.tensor<f64, [N:1]>
}

// -----

qn.kernel @group axes [N] (%n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{requires zero operands}}
  "qn.commit_copies"(%n) : (i64) -> ()
}

// -----

qn.kernel @wait axes [N] (%n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{requires attribute 'open'}}
  "qn.await_copies"() : () -> ()
}

// -----

qn.kernel @tile axes [M, N] (%x: !qn.tensor<f32, [M, N:1]>, %n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  %t = qn.local : memref<8xf32, 5>
  // expected-error @below {{has an extent of 8, no multiple of 16}}
  qn.load_tile %t, %x[%n, %n] rows 8 columns 16 : memref<8xf32, 5>, !qn.tensor<f32, [M, N:1]>
}

// -----

qn.kernel @row axes [N] (%x: !qn.tensor<f32, [N:1]>, %n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  %t = qn.local : memref<8xf32, 5>
  // expected-error @below {{has an index for each axis of a place, and two at least}}
  qn.store_tile %t, %x[%n] rows 16 columns 16 : memref<8xf32, 5>, !qn.tensor<f32, [N:1]>
}

// -----

qn.kernel @factors axes [M, N] (%x: !qn.tensor<f32, [M, N:1]>, %y: !qn.tensor<f16, [M, N:1]>, %n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  %t = qn.local : memref<8xf32, 5>
  // expected-error @below {{multiplies 'f32' by 'f16'}}
  qn.mma %t, %x[%n, %n], %y[%n, %n] rows 16 columns 16 depth 16
    : memref<8xf32, 5>, !qn.tensor<f32, [M, N:1]>, !qn.tensor<f16, [M, N:1]>
}

// -----

qn.kernel @left axes [M, N] (%x: !qn.tensor<f16, [M, N:1]>, %n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  %t = qn.local : memref<8xf32, 5>
  %f = qn.local : memref<2x4xf16, 5>
  // expected-error @below {{multiplies a tile of one axis}}
  qn.mma %t, %f, %x[%n, %n] rows 16 columns 16 depth 16
    : memref<8xf32, 5>, memref<2x4xf16, 5>, !qn.tensor<f16, [M, N:1]>
}

// -----

qn.kernel @scanned axes [N] (%v: f32, %n: i64) {
  qn.launch grid(%n, %n, %n) block(%n, %n, %n)
  // expected-error @below {{combines over a warp or a block}}
  %s = qn.prefix row (%v : f32) init (%v : f32) merge {
  ^bb0(%a: f32, %b: f32):
    %p = arith.addf %a, %b : f32
    qn.yield %p : f32
  }
}
