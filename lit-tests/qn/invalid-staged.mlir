// What the verifiers refuse of staged operands and sorts.
// RUN: quern-opt %s -split-input-file -verify-diagnostics

qn.rowwise @sort axes [C] (%k: i32, %order: !qn.tensor<i64, [C]>) {
  // expected-error @below {{writes a staged operand}}
  qn.sort %k over C, %order : i32, !qn.tensor<i64, [C]>
}

// -----

qn.rowwise @sort axes [C] staged 1 (%k: i32, %order: !qn.tensor<f32, [C]>) {
  // expected-error @below {{writes positions to}}
  qn.sort %k over C, %order : i32, !qn.tensor<f32, [C]>
}

// -----

qn.rowwise @sort axes [C] staged 1 (%k: i32, %order: !qn.tensor<i64, [C]>) {
  // expected-error @below {{the kernel has no axis "D"}}
  qn.sort %k over D, %order : i32, !qn.tensor<i64, [C]>
}

// -----

// expected-error @below {{staged argument of type 'i32'}}
qn.rowwise @staged axes [C] staged 1 (%k: i32) {
}

// -----

// expected-error @below {{2 staged arguments of 1}}
qn.rowwise @staged axes [C] staged 2 (%x: !qn.tensor<f32, [C]>) {
}
