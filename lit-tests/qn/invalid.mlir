// What the verifiers refuse, operation by operation.
// RUN: quern-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{axis "C" occurs twice}}
qn.rowwise @twice axes [C, C] () {
}

// -----

// expected-error @below {{operand has axis "D", which the kernel does not list}}
qn.rowwise @unknown axes [C] (%x: !qn.tensor<f32, [D]>) {
}

// -----

// expected-error @below {{1 numbers for 2 arguments}}
qn.rowwise @numbers axes [C] attributes {numbers = array<i64: 0>} (
    %x: !qn.tensor<f32, [C]>, %y: f32) {
}

// -----

// expected-error @below {{argument of type 'index'}}
qn.rowwise @argument axes [C] (%n: index) {
}

// -----

// expected-error @below {{operand has axis "C" twice}}
qn.rowwise @diagonal axes [C] (%x: !qn.tensor<f32, [C, C]>) {
}

// -----

// expected-error @below {{a fixed stride is 0 or 1}}
llvm.func @stride() attributes {type = !qn.tensor<f32, [C:2]>}

// -----

// expected-error @below {{element type 'index' is not a number type}}
llvm.func @element() attributes {type = !qn.tensor<index, [C]>}

// -----

qn.rowwise @index axes [C] () {
  // expected-error @below {{the kernel has no axis 'D'}}
  %i = qn.index D
}

// -----

qn.rowwise @size axes [C] () {
  // expected-error @below {{the kernel has no axis 'D'}}
  %i = qn.size D
}

// -----

qn.rowwise @axis axes [C] (%n: i64) {
  // expected-error @below {{axis 'C' is already an axis of the kernel}}
  %i = qn.axis C from %n to %n
}

// -----

qn.rowwise @load axes [C] (%x: !qn.tensor<f32, [C]>, %n: i64) {
  // expected-error @below {{2 indices for 1 axes}}
  %v = qn.load %x[%n, %n] : !qn.tensor<f32, [C]>
}

// -----

qn.rowwise @when axes [C] (%x: !qn.tensor<f32, [C]>, %c: i1) {
  // expected-error @below {{`when` needs an `outside` value}}
  %v = qn.load %x when %c : !qn.tensor<f32, [C]>
}

// -----

qn.rowwise @outside axes [C] (%x: !qn.tensor<f32, [C]>, %n: i64) {
  // expected-error @below {{outside value of type 'i64', element of type 'f32'}}
  %v = qn.load %x[%n] outside %n : i64 : !qn.tensor<f32, [C]>
}

// -----

qn.rowwise @store axes [C] (%x: !qn.tensor<f32, [C]>, %n: i64) {
  // expected-error @below {{writes 'i64' to}}
  qn.store %n, %x : i64, !qn.tensor<f32, [C]>
}

// -----

qn.rowwise @lookup axes [C] (%n: i64) {
  // expected-error @below {{a table has one dimension}}
  %v = qn.lookup %n in dense<1.0> : tensor<2x2xf32> -> f32
}

// -----

qn.rowwise @require axes [C] (%n: i64) {
  // expected-error @below {{operand #1 must be 1-bit signless integer}}
  %v = "qn.require"(%n, %n) <{text = "n"}> : (i64, i64) -> i64
}

// -----

qn.rowwise @require_place axes [C] (%x: f32, %n: i64, %c: i1) {
  // expected-error @below {{an index of type 'f32'}}
  %v = qn.require %x when %c, "C" of %n : f32
}

// -----

qn.rowwise @reduce axes [C] (%x: !qn.tensor<f32, [C]>, %z: f32) {
  %v = qn.load %x : !qn.tensor<f32, [C]>
  // expected-error @below {{step takes 'f32', expected 'f32', 'f32'}}
  %r = qn.reduce (%v : f32) init (%z : f32) over [C] step {
  ^bb0(%s: f32):
    qn.yield %s : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    qn.yield %a : f32
  }
}

// -----

qn.rowwise @scan axes [C] (%x: !qn.tensor<f32, [C]>, %z: f32) {
  %v = qn.load %x : !qn.tensor<f32, [C]>
  // expected-error @below {{merge must yield 'f32'}}
  %r = qn.scan (%v : f32) init (%z : f32) over C step {
  ^bb0(%s: f32, %e: f32):
    qn.yield %s : f32
  } merge {
  ^bb0(%a: f32, %b: f32):
    qn.yield %a, %b : f32, f32
  }
}

// -----

qn.rowwise @scatter axes [C] (%x: !qn.tensor<f32, [C]>, %n: i64, %v: f32) {
  // expected-error @below {{2 indices for 1 axes}}
  qn.scatter %v to %x[%n, %n] : f32 to !qn.tensor<f32, [C]> {
  }
}
