// Reads of joined operands that cannot be.
// RUN: quern-opt %s -split-input-file -verify-diagnostics

qn.rowwise @unlike axes [C] (%x: !qn.tensor<f32, [C]>, %y: !qn.tensor<f32, [C:1]>, %m: i64, %n: i64) {
  // expected-error @below {{joins '!qn.tensor<f32, [C]>' and '!qn.tensor<f32, [C:1]>'}}
  %v = qn.joined %x, %y ends %m, %n along C : !qn.tensor<f32, [C]>, !qn.tensor<f32, [C:1]> -> f32
}

// -----

qn.rowwise @apart axes [C] (%x: !qn.tensor<f32, [C]>, %y: !qn.tensor<f32, [C]>, %m: i64, %n: i64) {
  // expected-error @below {{joins arguments that follow each other}}
  %v = qn.joined %x, %y ends %n, %m along C : !qn.tensor<f32, [C]>, !qn.tensor<f32, [C]> -> f32
}

// -----

qn.rowwise @elsewhere axes [C, R] (%x: !qn.tensor<f32, [C]>, %y: !qn.tensor<f32, [C]>, %m: i64, %n: i64) {
  // expected-error @below {{joins along 'R', which is no axis of '!qn.tensor<f32, [C]>'}}
  %v = qn.joined %x, %y ends %m, %n along R : !qn.tensor<f32, [C]>, !qn.tensor<f32, [C]> -> f32
}

// -----

qn.rowwise @joined_type axes [C] (%x: !qn.tensor<f32, [C]>, %y: !qn.tensor<f32, [C]>, %m: i64, %n: i64) {
  // expected-error @below {{gives 'f64' from '!qn.tensor<f32, [C]>'}}
  %v = qn.joined %x, %y ends %m, %n along C : !qn.tensor<f32, [C]>, !qn.tensor<f32, [C]> -> f64
}

// -----

qn.rowwise @exact axes [C] (%x: f64) {
  // expected-error @below {{operand #0 must be 32-bit float, but got 'f64'}}
  %v = "qn.exact_or_coarse"(%x, %x) : (f64, f64) -> f64
}
